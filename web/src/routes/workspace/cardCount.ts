export const cardsText = (n: number): string => (n === 1 ? '1 open card' : `${n.toLocaleString('en')} open cards`)
