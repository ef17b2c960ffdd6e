// Types of /api/public/v1.
import type { components } from './schema'

type Schemas = components['schemas']

export type Activity = Schemas['Entry']
export type Attachment = Schemas['Attachment']
export type Board = Schemas['Board']
export type BoardDetail = Schemas['BoardDetail']
export type BoardMember = Schemas['BoardMember']
export type BoardTemplate = Schemas['BoardTemplate']
export type BoardTemplatePreview = Schemas['BoardTemplatePreview']
export type Card = Schemas['Card']
export type CardDetail = Schemas['CardDetail']
export type Checklist = Schemas['Checklist']
export type ChecklistItem = Schemas['ChecklistItem']
export type Comment = Schemas['Comment']
export type Delivery = Schemas['Delivery']
export type DeliveryDetail = Schemas['DeliveryDetail']
export type DeliveryQuota = Schemas['DeliveryQuota']
export type DueInput = Schemas['DueInput']
export type Invitation = Schemas['Invitation']
export type Job = Schemas['Job']
export type Label = Schemas['Label']
export type LabelColor = Label['color']
export type LabelRef = Schemas['LabelRef']
export type List = Schemas['List']
export type Member = Schemas['Member']
export type Overview = Schemas['Overview']
export type TrashItem = Schemas['TrashItem']
export type UserRef = Schemas['UserRef']
export type Webhook = Schemas['Webhook']

/** A position in a list or on a board: top, bottom, or next to the open card or list with the given ID. */
export type Position = 'top' | 'bottom' | { before: string } | { after: string }

export const labelColors: readonly LabelColor[] = [
  'gray',
  'red',
  'orange',
  'yellow',
  'lime',
  'green',
  'teal',
  'sky',
  'blue',
  'purple',
  'pink',
  'brown',
]
