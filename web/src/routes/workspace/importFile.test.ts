import { describe, expect, it } from 'vitest'
import { maxFileSize, detectFile, detectText, sizeText } from './importFile'

const problemOf = (text: string, complete = true) => {
  const detected = detectText(text, complete)
  return 'problem' in detected ? detected.problem : detected.kind
}

describe('detectText', () => {
  it('detects both Cardwall formats', () => {
    expect(detectText('{"format":"cardwall-export/1","exp', false)).toEqual({ kind: 'cardwall' })
    expect(detectText('{\n  "format": "cardwall-workspace-export/1"}', true)).toEqual({ kind: 'cardwall' })
    expect(detectText('{"name":"x","format":"cardwall-export/1"}', true)).toEqual({ kind: 'cardwall' })
  })
  it('detects Trello by its lists and cards, or by the beginning of the file', () => {
    expect(detectText('\uFEFF{"id":"1","lists":[],"cards":[]}', true)).toEqual({ kind: 'trello' })
    expect(detectText('{"id":"5f","name":"B","idOrganization":"1","shortLink":"x","actions":[', false)).toEqual({
      kind: 'trello',
    })
    expect(detectText('{"id":"5f","url":"https://trello.com/b/x","actions":[', false)).toEqual({ kind: 'trello' })
  })
  it('describes other kinds of files', () => {
    expect(problemOf('Card ID,Card Name\n1,2\n')).toContain('CSV')
    expect(problemOf('PK\u0003\u0004')).toContain('ZIP')
    expect(problemOf('<html>')).toContain('not a JSON file')
    expect(problemOf('{"lists":[')).toContain('incomplete')
    expect(problemOf('{"lists":[]}')).toContain('neither')
    expect(problemOf('{"something":"else","more":[', false)).toContain('neither')
  })
})

describe('detectFile', () => {
  it('rejects empty and oversized files', async () => {
    expect(await detectFile(new Blob([]))).toEqual({ problem: 'The file is empty.' })
    const large = { size: maxFileSize + 1 } as Blob
    expect(await detectFile(large)).toEqual({
      problem:
        'The file is larger than 100 MB. An operator can import it on the server, with the command cardwall import.',
    })
  })
  it('reads the beginning of a file', async () => {
    expect(await detectFile(new Blob(['{"format":"cardwall-export/1"}']))).toEqual({ kind: 'cardwall' })
  })
})

it('sizeText formats bytes, kilobytes and megabytes', () => {
  expect([12, 2048, 1.5 * 1024 * 1024, 100 * 1024 * 1024].map(sizeText)).toEqual([
    '12 bytes',
    '2 kB',
    '1.5 MB',
    '100 MB',
  ])
})
