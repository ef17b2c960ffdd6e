export { Client } from './client.js'
export type { Body, CallOptions, ClientOptions, ListPath, PagedPath, RecordOf } from './client.js'
export {
  CardwallError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  NotModifiedError,
  PlanError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnauthenticatedError,
  UnsupportedOperationError,
  VersionConflictError,
} from './errors.js'
export type { ErrorCode, ErrorDetail } from './errors.js'
export { WebhookVerificationError, verifyWebhook } from './webhook.js'
export type { WebhookEvent, WebhookHeaders, WebhookOptions, WebhookProblem } from './webhook.js'
export type { components, operations, paths } from './schema.js'
