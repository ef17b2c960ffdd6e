// A reporter that ends the output with the slowest tests, the time that all of them took, the first error of
// each flaky test, and the lines that tools/tally reads: "flaky: NAME" for each test that passed only when it
// ran again, "failed: NAME", and "53 passed, 0 failed".
import { stripVTControlCharacters } from 'node:util'
import type { FullConfig, FullResult, Reporter, Suite, TestCase } from '@playwright/test/reporter'

const slowTest = 1000 // ms
const maxSlowest = 10

export default class SummaryReporter implements Reporter {
  private suite: Suite | undefined

  onBegin(_config: FullConfig, suite: Suite): void {
    this.suite = suite
  }

  onEnd(result: FullResult): void {
    const tests = this.suite?.allTests() ?? []
    const outcomes = tests.map((test) => test.outcome())
    const count = (...kinds: string[]) => outcomes.filter((outcome) => kinds.includes(outcome)).length
    const skipped = count('skipped')
    // A run can fail without a failed test, for example if the server does not start.
    const failed = count('unexpected') || (result.status === 'passed' ? 0 : 1)
    const flaky = tests.filter((test) => test.outcome() === 'flaky')
    for (const { name, ms } of slowest(tests)) console.log(`${(ms / 1000).toFixed(0).padStart(4)} s ${name}`)
    console.log(`The browser tests took ${minutes(result.duration)}.`)
    for (const test of flaky) console.log(`${nameOf(test)} failed at first:\n${firstError(test)}`)
    for (const test of flaky) console.log(`flaky: ${nameOf(test)}`)
    for (const test of tests.filter((test) => test.outcome() === 'unexpected')) console.log(`failed: ${nameOf(test)}`)
    console.log(`${count('expected', 'flaky')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}

const nameOf = (test: TestCase) => test.titlePath().filter(Boolean).join(' › ')

/** Returns the slowest tests, slowest first. The time of a test is that of its longest run. */
function slowest(tests: readonly TestCase[]): { name: string; ms: number }[] {
  return tests
    .map((test) => ({ name: nameOf(test), ms: Math.max(0, ...test.results.map((run) => run.duration)) }))
    .filter(({ ms }) => ms >= slowTest)
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, maxSlowest)
}

/** Returns the text of the first error of a test, and where it occurred. */
function firstError(test: TestCase): string {
  const error = test.results.flatMap((run) => run.errors)[0]
  if (!error) return '    (without an error)'
  const { message, value, location } = error
  const place = location ? `\nat ${location.file}:${location.line}` : ''
  const text = stripVTControlCharacters(message ?? value ?? '') + place
  return text.replace(/^(?=.)/gm, '    ')
}

/** Formats a duration as Go does, such as "4m51s". */
function minutes(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
