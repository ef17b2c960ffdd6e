package board

// TrashType says what an item in the trash of a board is.
type TrashType string

// The types of items in the trash of a board.
const (
	TrashedCard TrashType = "card"
	TrashedList TrashType = "list"
)

// TrashItem is a deleted card or list.
type TrashItem struct {
	ID        string    `json:"id" doc:"The id of the card or list, with which restore_card or restore_list restores it." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Type      TrashType `json:"type" enum:"card,list" doc:"Whether it is a card or a list." example:"card"`
	Title     string    `json:"title" doc:"The title of the card, or the name of the list." example:"Write the press release"`
	Number    *int      `json:"number" doc:"The number of the card on its board; null for a list." example:"12"`
	ListID    *string   `json:"listId" doc:"The id of the list that the card was in; null for a list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Cards     int       `json:"cards" doc:"The number of cards that restoring it brings back. It is 1 for a card." example:"1"`
	TrashedBy *UserRef  `json:"trashedBy" doc:"The person who deleted it; null if it was not a person."`
	TrashedAt Instant   `json:"trashedAt" format:"date-time" doc:"When it was deleted." example:"2026-03-01T12:00:00.000Z"`
	PurgedAt  Instant   `json:"purgedAt" format:"date-time" doc:"When it will be deleted permanently, 30 days later." example:"2026-03-31T12:00:00.000Z"`
}
