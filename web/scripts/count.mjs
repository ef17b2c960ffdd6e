// A reporter for Vitest. It ends a run with a line that tools/tally parses: "71 passed, 0 failed".
export default class Count {
  onTestRunEnd(modules, errors) {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (state) => states.filter((s) => s === state).length
    // A failure outside a test, such as a failed import, counts too.
    const failedModules = modules.filter((module) => !module.ok() && module.errors().length > 0).length
    const failed = count('failed') + failedModules + errors.length
    const skipped = count('skipped') + count('pending')
    console.log(`${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
