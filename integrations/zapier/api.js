// The requests to the REST API of the server of a connection.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** The pauses before the retries of a request, in milliseconds. */
const pauses = [500, 2000]

/** The statuses of a gateway, or of a server that is starting or busy. */
const temporary = [502, 503, 504]

/**
 * Sends a request, and returns the body of the response. Retries it if the network or a gateway
 * fails. A write then has the same idempotency key, so that it is done at most once.
 *
 * @throws {ThrottledError} if nothing was done because the server is busy; Zapier then repeats the
 * step later
 * @throws {z.errors.Error} with the message, the code and the status of the server's error, or
 * without a status if it is unknown whether a write was done
 */
async function send(z, bundle, method, path, { params, body } = {}) {
  const isWrite = method !== 'GET'
  const request = {
    method,
    url: `${origin(z, bundle)}/api/public/v1${path}`,
    headers: { Authorization: `Bearer ${bundle.authData.token}`, Accept: 'application/json' },
    params,
    body,
    removeMissingValuesFrom: { params: true },
    skipThrowForStatus: true,
    throwForThrottlingEarly: false,
  }
  if (isWrite) request.headers['Idempotency-Key'] = randomUUID()

  let isUncertain = false // whether a write may have been done, although no response says so
  for (const pause of [...pauses, null]) {
    const { response, failure } = await attempt(z, request)
    if (response && !temporary.includes(response.status) && response.status !== 429) {
      return read(z, response)
    }
    isUncertain ||= isWrite && response?.status !== 429
    if (pause !== null && (isUncertain || response?.status !== 429)) {
      await sleep(pause)
      continue
    }
    // Zapier repeats a step with a new key, so it must not do that if the write may have been done.
    if (isUncertain) {
      const why = failure?.message ?? `status ${response.status}`
      const message = `The server does not respond (${why}). It may have made the change.`
      throw new z.errors.Error(message, 'uncertain')
    }
    if (failure) throw failure
    const seconds = Number(response.getHeader('retry-after')) || 60
    throw new z.errors.ThrottledError(`The server asks to wait ${seconds} seconds.`, seconds)
  }
}

/** Sends a request once, and returns its response, or the failure of the network. */
const attempt = (z, request) =>
  z.request(request).then(
    (response) => ({ response }),
    (failure) => ({ failure }),
  )

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
