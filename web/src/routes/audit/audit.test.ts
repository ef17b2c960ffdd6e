import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../api/contract'
import { difference, fieldText } from './difference'
import { paramsOf, filterOf, isFiltered, searchOf } from './filter'
import { entryPieces, knownOperations, operationGroups } from './labels'

interface OpenAPI {
  paths: Record<string, Record<string, { operationId: string }>>
}

describe('audit filters', () => {
  const filter = filterOf(new URLSearchParams('actor=usr_1&from=2026-03-01&nonsense=1'))
  it('are read from and written to the URL', () => {
    expect(searchOf(filter)).toBe('?actor=usr_1&from=2026-03-01')
    expect(filterOf(new URLSearchParams(searchOf(filter)))).toEqual(filter)
    expect(searchOf(filterOf(new URLSearchParams()))).toBe('')
  })
  it('have the parameter names of the API and omit empty values', () => {
    expect(paramsOf({ ...filter, board: 'brd_1', token: 'tok_1' })).toEqual({
      actor: 'usr_1',
      boardId: 'brd_1',
      tokenId: 'tok_1',
      from: '2026-03-01',
    })
    expect(isFiltered(filter)).toBe(true)
    expect(isFiltered(filterOf(new URLSearchParams()))).toBe(false)
  })
})

describe('difference', () => {
  const names = new Map([['usr_1', 'Ada']])
  it('describes the changed fields', () => {
    const changes = {
      title: { from: 'One', to: 'Two' },
      done: { from: false, to: true },
      assignees: { from: [], to: ['usr_1', 'usr_2'] },
      dueAt: { from: null, to: '2026-11-21T14:02:10.000Z' },
      events: { from: ['card.created'], to: ['card.created', 'card.moved'] },
      features: { from: null, to: { wipLimits: true, calendar: false } },
    }
    const lines = difference(changes, names, 'UTC').map((l) => [fieldText(l.field), l.from, l.to])
    expect(lines[0]).toEqual(['Title', 'One', 'Two'])
    expect(lines[1]).toEqual(['Done', 'no', 'yes'])
    expect(lines[2]).toEqual(['People', null, 'Ada, usr_2'])
    expect(lines[3]?.[2]).toContain('21 Nov')
    expect(lines[4]).toEqual(['Events', 'Card created', 'Card created and card moved'])
    expect(lines[5]).toEqual(['Features', null, 'Wip limits: yes\nCalendar: no'])
  })
  it('omits empty values', () => {
    const changes = { position: { from: null, to: 'top' }, text: { from: '', to: null }, name: { from: 'A', to: null } }
    expect(difference(changes, names, 'UTC')).toEqual([{ field: 'name', from: 'A', to: null }])
  })
})

describe('entryPieces', () => {
  const textOf = (operation: string, more: Partial<AuditEntry> = {}) => {
    const entry = { operation, subject: 'x_1', subjectName: null, boardId: null, boardName: null, changes: {}, ...more }
    return entryPieces(entry as AuditEntry, new Map([['usr_1', 'Ada']]))
      .map((p) => (p.name ? `*${p.text}*` : p.text))
      .join('')
  }
  const board = { boardId: 'brd_1', boardName: 'Plan' }
  it('names the object and its board', () => {
    expect(textOf('move_card', { ...board, subjectName: 'One' })).toBe('moved the card *One* on *Plan*')
    expect(textOf('move_card_to_board', { ...board, subjectName: 'One' })).toBe(
      'moved the card *One* to another board on *Plan*',
    )
    expect(textOf('trash_board', { ...board, subject: 'brd_1' })).toBe('moved the board *Plan* to the trash')
    expect(textOf('save_board_as_template', board)).toBe('saved the board *Plan* as a template')
    expect(textOf('share_board', { ...board, subjectName: 'Ada' })).toBe('shared the board *Plan* with *Ada*')
    expect(textOf('fly_kite')).toBe('did fly kite')
  })
  it('takes a name from the changes', () => {
    expect(textOf('create_label', { ...board, changes: { name: { from: null, to: 'Bug' } } })).toBe(
      'created the label *Bug* on *Plan*',
    )
    expect(textOf('create_invitation', { changes: { email: { from: null, to: 'a@b.example' } } })).toBe(
      'invited *a@b.example*',
    )
    expect(textOf('remove_board_member', { ...board, changes: { userId: { from: 'usr_1', to: null } } })).toBe(
      'removed *Ada* from the board *Plan*',
    )
  })
  it('describes an object without a name', () => {
    expect(textOf('create_rule', board)).toBe('created a rule on *Plan*')
    expect(textOf('delete_checklist_item', board)).toBe('deleted a checklist item on *Plan*')
    expect(textOf('remove_member')).toBe('removed someone from the workspace')
    expect(textOf('update_card', { boardId: 'brd_2' })).toBe('changed a card on a board that you can’t see')
    expect(textOf('update_board', { boardId: 'brd_2' })).toBe('changed a board that you can’t see')
  })
})

describe('operation texts', () => {
  // The audit log of a workspace has no entries about users' own accounts or about reads.
  const ownAccount =
    /_(passkey|passkey_sign_in|calendar_feed|notifications?|notification_settings|token|authorization|device|app|session|account|profile)$/
  const notAudited =
    /_(password|email|avatar)$|^(on_|sign_|get_|dry_run_|unsubscribe$|request_password_reset$|confirm_sign_in$)/
  const changing = ['openapi', 'openapi-app'].flatMap((name) => {
    const { paths } = JSON.parse(readFileSync(`../internal/rest/testdata/${name}.json`, 'utf8')) as OpenAPI
    return Object.values(paths).flatMap((methods) =>
      ['post', 'put', 'patch', 'delete'].flatMap((method) => methods[method]?.operationId ?? []),
    )
  })
  it('exist for each operation in the audit log', () => {
    expect(changing.length).toBeGreaterThan(90)
    expect(
      changing.filter((name) => !ownAccount.test(name) && !notAudited.test(name) && !knownOperations.has(name)),
      'operations without a sentence in labels.ts',
    ).toEqual([])
  })
  it('exist only for operations in the audit log', () => {
    // An upload, which is not in the OpenAPI documents, and a part of signing in.
    const undocumented = ['import_board', 'reject_password']
    expect([...knownOperations].filter((name) => !changing.includes(name))).toEqual(undocumented)
    const all = operationGroups.flatMap((g) => g.operations)
    expect(new Set(all).size).toBe(all.length)
  })
})
