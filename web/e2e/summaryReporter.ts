// A reporter that ends the output with the lines that tools/tally reads: "flaky: NAME" for each test that
// passed only when it ran again, and "53 passed, 0 failed".
import type { FullConfig, FullResult, Reporter, Suite } from '@playwright/test/reporter'

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
    for (const test of tests.filter((test) => test.outcome() === 'flaky'))
      console.log(`flaky: ${test.titlePath().filter(Boolean).join(' › ')}`)
    console.log(`${count('expected', 'flaky')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
