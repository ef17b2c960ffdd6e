// A reporter for Vitest. It ends a run with the slowest tests, the time that all of them took, and
// the lines that tools/tally parses: "failed: NAME" and "71 passed, 0 failed".
const slowTest = 1000 // ms
const maxSlowest = 10

export default class Count {
  onInit() {
    this.began = performance.now()
  }

  onTestRunEnd(modules, errors) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const slow = tests
      .map((test) => ({ name: `${test.module.relativeModuleId} › ${test.fullName}`, ms: test.diagnostic()?.duration }))
      .filter(({ ms }) => ms >= slowTest)
      .toSorted((a, b) => b.ms - a.ms)
    for (const { name, ms } of slow.slice(0, maxSlowest)) {
      console.log(`${(ms / 1000).toFixed(0).padStart(4)} s ${name}`)
    }
    console.log(`The unit tests of the pages took ${((performance.now() - this.began) / 1000).toFixed(0)}s.`)
    for (const test of tests.filter((test) => test.result().state === 'failed')) {
      console.log(`failed: ${test.module.relativeModuleId} › ${test.fullName}`)
    }
    const count = (state) => tests.filter((test) => test.result().state === state).length
    // A failure outside a test, such as a failed import, counts too.
    const failedModules = modules.filter((module) => !module.ok() && module.errors().length > 0).length
    const failed = count('failed') + failedModules + errors.length
    const skipped = count('skipped') + count('pending')
    console.log(`${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
