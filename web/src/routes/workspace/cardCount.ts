/** Formats a number of cards: "1,200 cards". */
export const cardsText = (n: number): string => (n === 1 ? '1 card' : `${n.toLocaleString('en')} cards`)
