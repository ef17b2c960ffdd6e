export function patterns(src: string): string[]
