import { describe, expect, it } from 'vitest'
import { fileMost, lookAt, lookAtText, sizeText } from './file'

const problem = (text: string, whole = true) => {
  const looked = lookAtText(text, whole)
  return 'problem' in looked ? looked.problem : looked.kind
}

describe('lookAtText', () => {
  it('knows both formats of Cardwall', () => {
    expect(lookAtText('{"format":"cardwall-export/1","exp', false)).toEqual({ kind: 'cardwall' })
    expect(lookAtText('{\n  "format": "cardwall-workspace-export/1"}', true)).toEqual({ kind: 'cardwall' })
    expect(lookAtText('{"name":"x","format":"cardwall-export/1"}', true)).toEqual({ kind: 'cardwall' })
  })
  it('knows Trello by its lists and cards, or from the beginning alone', () => {
    expect(lookAtText('\uFEFF{"id":"1","lists":[],"cards":[]}', true)).toEqual({ kind: 'trello' })
    expect(lookAtText('{"id":"5f","name":"B","idOrganization":"1","shortLink":"x","actions":[', false)).toEqual({
      kind: 'trello',
    })
    expect(lookAtText('{"id":"5f","url":"https://trello.com/b/x","actions":[', false)).toEqual({ kind: 'trello' })
  })
  it('says what else a file is', () => {
    expect(problem('Card ID,Card Name\n1,2\n')).toContain('CSV')
    expect(problem('PK\u0003\u0004')).toContain('packed')
    expect(problem('<html>')).toContain('not JSON')
    expect(problem('{"lists":[')).toContain('incomplete')
    expect(problem('{"lists":[]}')).toContain('neither')
    expect(problem('{"something":"else","more":[', false)).toContain('neither')
  })
})

describe('lookAt', () => {
  it('refuses nothing and too much before sending', async () => {
    expect(await lookAt(new Blob([]))).toEqual({ problem: 'The file is empty.' })
    const large = { size: fileMost + 1 } as Blob
    expect(await lookAt(large)).toEqual({ problem: 'The file is larger than 100 MB.' })
  })
  it('reads the beginning of a file', async () => {
    expect(await lookAt(new Blob(['{"format":"cardwall-export/1"}']))).toEqual({ kind: 'cardwall' })
  })
})

it('writes sizes', () => {
  expect([12, 2048, 1.5 * 1024 * 1024, 100 * 1024 * 1024].map(sizeText)).toEqual([
    '12 bytes',
    '2 kB',
    '1.5 MB',
    '100 MB',
  ])
})
