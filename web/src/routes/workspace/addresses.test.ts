import { describe, expect, it } from 'vitest'
import { parseAddresses } from './addresses'

describe('parseAddresses', () => {
  it('splits at commas, semicolons, tabs and line breaks, and returns each address once', () => {
    expect(parseAddresses('ada@example.com, GRACE@example.com;\n alan@example.com\tada@example.com')).toEqual({
      valid: ['ada@example.com', 'grace@example.com', 'alan@example.com'],
      invalid: [],
    })
  })
  it('reads the To header of an email', () => {
    expect(parseAddresses('"Lovelace, Ada" <ada@example.com>, Grace Hopper <grace@navy.example>')).toEqual({
      valid: ['ada@example.com', 'grace@navy.example'],
      invalid: [],
    })
  })
  it('reads names and addresses on one line without brackets', () => {
    expect(parseAddresses('Ada Lovelace ada@example.com').valid).toEqual(['ada@example.com'])
    expect(parseAddresses('ada@example.com grace@example.com').valid).toEqual(['ada@example.com', 'grace@example.com'])
  })
  it('reads mailto: links and addresses in quotes', () => {
    expect(parseAddresses("mailto:ada@example.com\n'grace@example.com'\nalan@example.com.").valid).toEqual([
      'ada@example.com',
      'grace@example.com',
      'alan@example.com',
    ])
  })
  it('returns invalid entries as they were written', () => {
    expect(parseAddresses('Ada\nada@localhost\nada@@example.com\nAda <ada@>\nok@example.com')).toEqual({
      valid: ['ok@example.com'],
      invalid: ['Ada', 'ada@localhost', 'ada@@example.com', 'Ada <ada@>'],
    })
  })
  it('accepts an unpaired quote', () => {
    expect(parseAddresses('"Ada ada@example.com, grace@example.com').valid).toEqual([
      'ada@example.com',
      'grace@example.com',
    ])
  })
  it('returns nothing for text without addresses', () => {
    expect(parseAddresses(' ,;\n\n" "')).toEqual({ valid: [], invalid: [] })
  })
})
