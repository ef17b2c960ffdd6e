// The requests to the REST API of the server of a connection.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** The waits before the further tries of a request that got no answer, in milliseconds. */
const waits = [500, 2000]

/** The statuses of a gateway, or of a server that is starting or busy. */
const passing = [502, 503, 504]

/**
 * Sends a request, and returns the body of the response. Tries again if the network or a gateway
 * fails. A write then has the same idempotency key, so that it is done at most once.
 *
 * @throws {ThrottledError} if the server is busy; Zapier then repeats the step later
 * @throws {z.errors.Error} with the message, the code and the status of the server's error
 */
async function send(z, bundle, method, path, { params, body } = {}) {
  const request = {
    method,
    url: `${origin(z, bundle)}/api/public/v1${path}`,
    headers: { Authorization: `Bearer ${bundle.authData.token}`, Accept: 'application/json' },
    params,
    body,
    removeMissingValuesFrom: { params: true },
    skipThrowForStatus: true,
  }
  if (method !== 'GET') request.headers['Idempotency-Key'] = randomUUID()

  for (const wait of [...waits, null]) {
    const response = await z.request(request).catch((error) => {
      // An error of the platform, such as that of a rate limit, is final.
      if (error.doNotContextify || wait === null) throw error
    })
    if (response && (wait === null || !passing.includes(response.status))) {
      return read(z, response)
    }
    await sleep(wait)
  }
}

/** Returns the origin of the server URL, which may be that of any page and lack https://. */
function origin(z, { authData: { serverUrl } }) {
  const url = /^https?:\/\//i.test(serverUrl) ? serverUrl : `https://${serverUrl}`
  if (!URL.canParse(url)) {
    throw new z.errors.Error('The server URL is not a URL.', 'invalid_url', 400)
  }
  return new URL(url).origin
}

/** Returns the body of a response, or throws its error. */
function read(z, response) {
  const { status } = response
  if (passing.includes(status)) {
    const seconds = Number(response.getHeader('retry-after')) || 60
    throw new z.errors.ThrottledError(`The server responds with the status ${status}.`, seconds)
  }
  if (status === 401) {
    throw new z.errors.ExpiredAuthError('The API token is not valid. Connect the account again.')
  }
  const { error } = response.data ?? {}
  if (status >= 400 && error) throw new z.errors.Error(error.message, error.code, status)
  if (status >= 300 || !response.data?.data) {
    const message = 'The server does not respond as Cardwall does. Check the server URL.'
    throw new z.errors.Error(message, 'not_cardwall', status)
  }
  return response.data
}

/** Returns a record, or null if it does not exist or is not visible. */
export async function find(z, bundle, path, params) {
  return get(z, bundle, path, params).catch(nullIfMissing)
}

/** Returns a record. */
export async function get(z, bundle, path, params) {
  return (await send(z, bundle, 'GET', path, { params })).data
}

/** Returns the records of a list, or the first ones if it has more than `limit`. */
export async function list(z, bundle, path, params, limit = 1000) {
  const records = []
  let cursor
  do {
    const query = { ...params, limit: Math.min(limit, 200), cursor }
    const page = await send(z, bundle, 'GET', path, { params: query })
    records.push(...page.data)
    cursor = page.nextCursor
  } while (cursor && records.length < limit)
  return records.slice(0, limit)
}

/** Sends a write, and returns the record in its response. */
export async function write(z, bundle, method, path, body) {
  return (await send(z, bundle, method, path, { body })).data
}

/** Deletes a record, unless it does not exist. */
export async function remove(z, bundle, path) {
  return write(z, bundle, 'DELETE', path).catch(nullIfMissing)
}

function nullIfMissing(error) {
  if (error.name === 'AppError' && JSON.parse(error.message).status === 404) return null
  throw error
}
