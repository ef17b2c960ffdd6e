// Ends the output of a run with the line that tools/tally reads: "53 passed, 0 failed".
import type { FullConfig, FullResult, Reporter, Suite } from '@playwright/test/reporter'

export default class Count implements Reporter {
  private suite: Suite | undefined

  onBegin(_config: FullConfig, suite: Suite): void {
    this.suite = suite
  }

  onEnd(result: FullResult): void {
    const outcomes = this.suite?.allTests().map((test) => test.outcome()) ?? []
    const count = (...wanted: string[]) => outcomes.filter((outcome) => wanted.includes(outcome)).length
    const skipped = count('skipped')
    // For example, a server that does not start fails the run but no test.
    const failed = count('unexpected') || (result.status === 'passed' ? 0 : 1)
    console.log(`${count('expected', 'flaky')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
