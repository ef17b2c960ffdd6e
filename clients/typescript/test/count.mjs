// A reporter of the test runner that ends with the line "N passed, M failed".
export default async function* count(events) {
  let passed = 0
  let failed = 0
  for await (const { type, data } of events) {
    if (data?.details?.type === 'suite') continue
    if (type === 'test:pass') passed++
    if (type === 'test:fail') failed++
  }
  yield `${passed} passed, ${failed} failed\n`
}
