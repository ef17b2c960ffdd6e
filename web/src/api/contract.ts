// The records of /api/app/v1, by the names that the pages use.
import type { components, paths } from './schema-app'

type Schemas = components['schemas']

export type { paths }
export type ApiToken = Schemas['UsedToken']
export type Asked = Schemas['Asked']
export type ConnectedApp = Schemas['ConnectedApp']
export type AuditEntry = Schemas['AuditEntry']
export type Delivery = Schemas['Delivery']
export type DeliveryDetail = Schemas['DeliveryDetail']
export type DeliveryQuota = Schemas['DeliveryQuota']
export type Home = Schemas['Home']
export type HomeBoard = Schemas['HomeBoard']
export type InvitationSeen = Schemas['InvitationLook']
export type OpenedBoard = Schemas['OpenBoard']
export type PageSession = Schemas['Session']
export type Passkey = Schemas['Passkey']
export type PasskeyChallenge = Schemas['Ceremony']
export type Session = Schemas['SignedIn']
export type SessionWorkspace = Schemas['Workspace']
export type SignInOptions = Schemas['SignInOptions']
export type User = Schemas['Profile']
export type Webhook = Schemas['Webhook']
export type Theme = User['theme']
export type WorkspaceRole = SessionWorkspace['role']
