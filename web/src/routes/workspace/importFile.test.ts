import { describe, expect, it } from 'vitest'
import { maxFileSize, detectFile, detectText, sizeText } from './importFile'

const problem = (text: string, whole = true) => {
  const looked = detectText(text, whole)
  return 'problem' in looked ? looked.problem : looked.kind
}

describe('detectText', () => {
  it('detects both Cardwall formats', () => {
    expect(detectText('{"format":"cardwall-export/1","exp', false)).toEqual({ kind: 'cardwall' })
    expect(detectText('{\n  "format": "cardwall-workspace-export/1"}', true)).toEqual({ kind: 'cardwall' })
    expect(detectText('{"name":"x","format":"cardwall-export/1"}', true)).toEqual({ kind: 'cardwall' })
  })
  it('detects Trello by its lists and cards, or by the beginning alone', () => {
    expect(detectText('\uFEFF{"id":"1","lists":[],"cards":[]}', true)).toEqual({ kind: 'trello' })
    expect(detectText('{"id":"5f","name":"B","idOrganization":"1","shortLink":"x","actions":[', false)).toEqual({
      kind: 'trello',
    })
    expect(detectText('{"id":"5f","url":"https://trello.com/b/x","actions":[', false)).toEqual({ kind: 'trello' })
  })
  it('describes other kinds of files', () => {
    expect(problem('Card ID,Card Name\n1,2\n')).toContain('CSV')
    expect(problem('PK\u0003\u0004')).toContain('ZIP')
    expect(problem('<html>')).toContain('not a JSON file')
    expect(problem('{"lists":[')).toContain('incomplete')
    expect(problem('{"lists":[]}')).toContain('neither')
    expect(problem('{"something":"else","more":[', false)).toContain('neither')
  })
})

describe('detectFile', () => {
  it('rejects empty and oversized files before sending', async () => {
    expect(await detectFile(new Blob([]))).toEqual({ problem: 'The file is empty.' })
    const large = { size: maxFileSize + 1 } as Blob
    expect(await detectFile(large)).toEqual({ problem: 'The file is larger than 100 MB.' })
  })
  it('reads the beginning of a file', async () => {
    expect(await detectFile(new Blob(['{"format":"cardwall-export/1"}']))).toEqual({ kind: 'cardwall' })
  })
})

it('formats sizes', () => {
  expect([12, 2048, 1.5 * 1024 * 1024, 100 * 1024 * 1024].map(sizeText)).toEqual([
    '12 bytes',
    '2 kB',
    '1.5 MB',
    '100 MB',
  ])
})
