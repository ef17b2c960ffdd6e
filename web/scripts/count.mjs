// Closes a run of vitest with the line that tools/tally adds up: "71 passed, 0 failed".
export default class Count {
  onTestRunEnd(modules, errors) {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (wanted) => states.filter((state) => state === wanted).length
    // A failure outside a test, such as an import, counts too.
    const broken = modules.filter((module) => !module.ok() && module.errors().length > 0).length
    const failed = count('failed') + broken + errors.length
    const skipped = count('skipped') + count('pending')
    console.log(`${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
