import { describe, expect, it } from 'vitest'
import type { Delivery, Webhook } from '../../api/types'
import { eventGroups, eventKinds, eventsText, eventText } from './events'
import { tokenize } from './json'
import { durationText, momentText, soonText } from '../../lib/exactTime'
import { headersInput, keptHeaders } from './headers'
import {
  parseFilter,
  canRedeliver,
  healthTone,
  matchesFilter,
  pollDelay,
  rateText,
  stateOf,
  subjectText,
  webhookName,
} from './labels'

const webhook = (more: Partial<Webhook>) =>
  ({
    name: '',
    host: 'hooks.example.com',
    offReason: null,
    heldSince: null,
    heldUntil: null,
    failures: 0,
    ...more,
  }) as Webhook
const delivery = (more: Partial<Delivery>) => ({ status: 'delivered', nextAttemptAt: null, ...more }) as Delivery

describe('event labels', () => {
  it('exist for every kind', () => {
    expect(new Set(eventKinds).size).toBe(15)
    for (const kind of [...eventKinds, 'webhook.test']) expect(eventText(kind)).not.toContain('.')
    expect(eventGroups.every((g) => g.events.length > 0)).toBe(true)
  })
  it('are summarized by eventsText', () => {
    expect(eventsText(eventKinds)).toBe('All events')
    expect(eventsText(['webhook.test'])).toBe('Test events only')
    expect(eventsText(['card.created'])).toBe('Card created')
    expect(eventsText(['card.created', 'card.moved'])).toBe('Card created and card moved')
    expect(eventsText(eventKinds.slice(0, 5))).toBe('Card created, card changed and 3 more')
  })
})

describe('stateOf and webhookName', () => {
  it('describe the most severe state of a webhook', () => {
    expect(stateOf(webhook({})).label).toBe('On')
    expect(stateOf(webhook({ failures: 1 })).label).toBe('Failed once')
    expect(stateOf(webhook({ failures: 3, heldSince: '2026-11-21T09:00:00Z' })).label).toBe('Held')
    expect(stateOf(webhook({ failures: 10, offReason: 'failures' })).tone).toBe('danger')
    expect(stateOf(webhook({ offReason: 'paused' })).label).toBe('Paused')
    expect(stateOf(webhook({ offReason: 'trash' })).reason).toContain('in the trash')
    expect(stateOf(webhook({ offReason: 'plan' })).reason).toContain('The plan’s limit was reached')
    const held = { heldSince: '2026-11-21T09:00:00Z', heldUntil: '2026-11-21T09:01:00Z' }
    expect(stateOf(webhook(held)).reason).toContain('asked for a pause')
  })
  it('use the host if a webhook has no name', () => {
    expect(webhookName(webhook({}))).toBe('hooks.example.com')
    expect(webhookName(webhook({ name: 'Bot' }))).toBe('Bot')
  })
})

describe('the delivery log', () => {
  it('is filtered by the URL', () => {
    expect(parseFilter('gave up')).toBe('gave up')
    expect(parseFilter('nonsense')).toBe('')
    expect(matchesFilter('open', delivery({ status: 'pending retry' }))).toBe(true)
    expect(matchesFilter('failed', delivery({}))).toBe(false)
    expect(canRedeliver(delivery({ status: 'skipped' }))).toBe(true)
    expect(canRedeliver(delivery({ status: 'delivering' }))).toBe(false)
  })
  it('names the card or, without one, the board', () => {
    expect(subjectText({ boardName: 'Website', cardNumber: 7, cardTitle: 'Login' })).toBe('#7 Login')
    expect(subjectText({ boardName: 'Website', cardNumber: null, cardTitle: null })).toBe('Website')
    expect(subjectText({ boardName: null, cardNumber: null, cardTitle: null })).toBe('')
  })
  it('is polled more often while an attempt is expected soon', () => {
    const now = Date.parse('2026-11-21T09:00:00Z')
    expect(pollDelay([delivery({})], now)).toBe(4000)
    expect(pollDelay([delivery({ status: 'pending' })], now)).toBe(1000)
    expect(pollDelay([delivery({ status: 'pending retry', nextAttemptAt: '2026-11-21T12:00:00Z' })], now)).toBe(4000)
  })
})

it('soonText, durationText and momentText format times', () => {
  const now = Date.parse('2026-11-21T09:00:00Z')
  expect(soonText('2026-11-21T09:00:28Z', now)).toBe('in 28 s')
  expect(soonText('2026-11-21T09:10:00Z', now)).toBe('in 10 min')
  expect(soonText('2026-11-21T15:00:00Z', now)).toBe('in 6 h')
  expect(soonText('2026-11-21T08:59:00Z', now)).toBe('now')
  expect(durationText(84)).toBe('84 ms')
  expect(durationText(1234)).toBe('1.2 s')
  expect(momentText('2026-11-21T14:02:10Z', 'Europe/Zurich', new Date(now))).toBe('21 Nov, 15:02:10')
  expect(momentText('2025-01-02T14:02:10Z', 'UTC', new Date(now))).toBe('2 Jan 2025, 14:02:10')
})

it('headersInput keeps the values that stay hidden', () => {
  const names = ['Authorization', 'X-Team']
  const rows = keptHeaders(names)
  expect(headersInput(rows, names)).toBeUndefined()
  expect(headersInput(rows.slice(1), names)).toEqual([{ name: 'X-Team' }])
  expect(headersInput([], names)).toEqual([])
  const added = { key: 2, name: ' X-New ', value: ' a b ', kept: false }
  expect(headersInput([...rows, added], names)).toEqual([
    { name: 'Authorization' },
    { name: 'X-Team' },
    { name: 'X-New', value: 'a b' },
  ])
  expect(headersInput([], [])).toBeUndefined()
})

it('a success rate is rounded, but never to 0% or 100%', () => {
  expect([null, 0, 0.0005, 0.5, 0.9512, 0.9995, 1].map(rateText)).toEqual([
    '–',
    '0%',
    '0.1%',
    '50%',
    '95.1%',
    '99.9%',
    '100%',
  ])
  expect([1, 0.95, 0.5].map(healthTone)).toEqual(['good', 'warn', 'danger'])
})

it('tokenize splits an indented body into tokens', () => {
  const body = '{"id":"itg_1:v4","n":-1.5e3,"no":null,"s":"a \\"b\\": 1","l":[true,[]]}'
  const tokens = tokenize(body)
  expect(tokens.map((p) => p.text).join('')).toBe(JSON.stringify(JSON.parse(body), null, 2))
  expect(tokens.filter((p) => p.type === 'name').map((p) => p.text)).toEqual(['"id"', '"n"', '"no"', '"s"', '"l"'])
  expect(tokens.find((p) => p.type === 'number')?.text).toBe('-1500')
  expect(tokens.filter((p) => p.type === 'keyword').map((p) => p.text)).toEqual(['null', 'true'])
  expect(tokenize('not json')).toEqual([{ text: 'not json', type: 'punctuation' }])
})
