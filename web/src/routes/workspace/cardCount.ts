/** Formats a number of open cards: "1,200 open cards". */
export const cardsText = (n: number): string => (n === 1 ? '1 open card' : `${n.toLocaleString('en')} open cards`)
