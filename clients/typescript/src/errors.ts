import type { components } from './schema.js'

type ErrorBody = components['schemas']['ErrorBody']

/** The code of an error. Codes are the same for all versions of the API. */
export type ErrorCode = ErrorBody['code']

/** An invalid field, the rule that it breaks and, if they can be listed, the allowed values. */
export type ErrorDetail = NonNullable<ErrorBody['details']>[number]

/**
 * The base class of the errors that calls throw. Subclasses distinguish what programs handle
 * differently. If the caller aborts a call, it throws the reason of the signal instead.
 */
export class CardwallError extends Error {
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number
  /** The code of the error, or undefined if the response did not come from the API. */
  readonly code: ErrorCode | undefined
  /** Distinguishes errors with the same code. Later versions of the server may add reasons. */
  readonly reason: string | undefined
  /** The invalid fields of the request. */
  readonly details: readonly ErrorDetail[]
  /** The id of the request, as in the log of the server. */
  readonly requestId: string | undefined
  /** The number of seconds after which the request may be sent again, if the server gave one. */
  readonly retryAfter: number | undefined

  constructor(message: string, response?: Response, body?: ErrorBody, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.status = response?.status ?? 0
    this.code = body?.code
    this.reason = body?.reason
    this.details = body?.details ?? []
    this.requestId = response?.headers.get('X-Request-Id') ?? undefined
    this.retryAfter = response && retryAfter(response)
  }
}

/** No server responded, or the connection broke before the end of the response. */
export class ConnectionError extends CardwallError {}

/** No complete response arrived within the timeout. */
export class TimeoutError extends ConnectionError {}

/** The request is invalid. `details` names the fields. */
export class InvalidRequestError extends CardwallError {}

/** The token is missing, invalid, expired or revoked. */
export class UnauthenticatedError extends CardwallError {}

/** The owner of the token may not do this, or the token does not have the required scope. */
export class ForbiddenError extends CardwallError {}

/** The object does not exist, or the owner of the token cannot see it. */
export class NotFoundError extends CardwallError {}

/** The state of an object does not allow the change: it is archived, full or has changed. */
export class ConflictError extends CardwallError {}

/** The object does not have the entity tag in If-Match, because it has changed. */
export class VersionConflictError extends ConflictError {
  /** The object as it is now. */
  readonly current: Readonly<Record<string, unknown>>
  /** The entity tag of the object as it is now. */
  readonly etag: string | undefined

  constructor(message: string, response: Response, body: ErrorBody) {
    super(message, response, body)
    this.current = body.current ?? {}
    this.etag = response.headers.get('ETag') ?? undefined
  }
}

/** The plan of the organization does not allow this. */
export class PlanError extends CardwallError {}

/** A rate limit is exceeded. Send the request again after `retryAfter` seconds. */
export class RateLimitError extends CardwallError {}

/** The server failed or is temporarily unavailable. */
export class ServerError extends CardwallError {}

/** The server does not know the operation, perhaps because it is older than this client. */
export class UnsupportedOperationError extends CardwallError {}

/** The record still has the entity tag in If-None-Match. */
export class NotModifiedError extends CardwallError {}

/** Returns the error for a response that is not a success. */
export function errorOf(operation: string, response: Response, parsed: unknown): CardwallError {
  const { status } = response
  const body = errorBody(parsed)
  // A server responds with 405 if it knows the path only with other methods. A 404 without the
  // body of an error comes from something that does not know the API at all.
  if (status === 405 || (status === 404 && (!body || body.reason === 'unknown_path'))) {
    const message = `${operation} is not supported by this server, which may be too old, or by this address.`
    return new UnsupportedOperationError(message, response, body)
  }
  if (status === 304) {
    return new NotModifiedError(`${operation}: the record has not changed.`, response)
  }
  const message = body?.message ?? `${operation}: the response has the status ${status}.`
  if (body?.reason === 'version_conflict') return new VersionConflictError(message, response, body)
  return new (classOf(status))(message, response, body)
}

function classOf(status: number): typeof CardwallError {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 416:
      return InvalidRequestError
    case 401:
      return UnauthenticatedError
    case 402:
      return PlanError
    case 403:
      return ForbiddenError
    case 404:
      return NotFoundError
    case 409:
    case 412:
      return ConflictError
    case 429:
      return RateLimitError
    default:
      return status >= 500 ? ServerError : CardwallError
  }
}

function errorBody(parsed: unknown): ErrorBody | undefined {
  const body = (parsed as { error?: ErrorBody } | null | undefined)?.error
  return typeof body?.code === 'string' && typeof body.message === 'string' ? body : undefined
}

/** Returns the wait in Retry-After, which is a number of seconds or a date, in seconds. */
function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('Retry-After')
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0)
}
