package board

// The ids in a sample delivery.
const (
	sampleWorkspace = "wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"
	sampleBoard     = "brd_01jb2m3n4p5q6r7s8t9v0w1x2y"
	sampleCard      = "crd_01jb2m3n4p5q6r7s8t9v0w1x2y"
	sampleList      = "lst_01jb2m3n4p5q6r7s8t9v0w1x2y"
	samplePerson    = "usr_01jb2m3n4p5q6r7s8t9v0w1x2y"
	sampleLabel     = "lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"
)

// SampleOf returns a sample delivery of a kind, built by the code that builds
// real ones. It returns false for an unknown kind.
func SampleOf(kind Kind, baseURL string) (Outgoing, bool) {
	date, before := "2026-03-10", "2026-03-07"
	card := Card{ID: sampleCard, BoardID: sampleBoard, ListID: sampleList, Due: Due{DueDate: &date}}
	list := List{ID: sampleList, BoardID: sampleBoard}
	item := ChecklistItem{ID: "chi_01jb2m3n4p5q6r7s8t9v0w1x2y", ChecklistID: "chk_01jb2m3n4p5q6r7s8t9v0w1x2y"}
	var e Event
	switch kind {
	case KindCardCreated:
		e = CardCreated(card, "")
	case KindCardUpdated:
		e = CardUpdated(card, Changes{"title": {}})
	case KindCardMoved:
		e = CardMoved(card, "lst_01jb2m3n4p5q6r7s8t9v0w1x2z", "")
	case KindCardCompleted:
		e = CardCompleted(card)
	case KindCardReopened:
		e = CardReopened(card)
	case KindCardArchived:
		e = CardArchived(card)
	case KindCardRestored:
		e = CardRestored(card, nil, "")
	case KindCardAssigneesChanged:
		e = CardAssigneesChanged(card, nil, []string{samplePerson}, []string{})
	case KindCardLabelsChanged:
		e = CardLabelsChanged(card, nil, []string{sampleLabel}, []string{})
	case KindCardDueDateChanged:
		e = CardDueDateChanged(card, Due{DueDate: &before})
	case KindCommentAdded:
		e = CommentAdded(card, Comment{ID: "cmt_01jb2m3n4p5q6r7s8t9v0w1x2y"})
	case KindItemCompleted:
		e = ItemCompleted(card, item)
	case KindListCreated:
		e = ListCreated(list, "")
	case KindListArchived:
		e = ListArchived(list)
	case KindStatusPosted:
		e = StatusPosted(StatusUpdate{ID: "sts_01jb2m3n4p5q6r7s8t9v0w1x2y"})
	case KindWebhookTest:
		e = Event{Kind: kind, Data: WebhookRef{WebhookID: "whk_01jb2m3n4p5q6r7s8t9v0w1x2y"}}
	default:
		return Outgoing{}, false
	}
	person, boardID := samplePerson, sampleBoard
	return Outgoing{
		ID: DeliveryID("itg_01jb2m3n4p5q6r7s8t9v0w1x2y", 42), Type: kind, Format: WebhookFormat, OccurredAt: 1772460000000,
		WorkspaceID: sampleWorkspace, BoardID: &boardID, BoardVersion: 42, Actor: Actor{Type: ActorPerson, ID: &person},
		Data: e.Data, Links: LinksOf(baseURL, sampleBoard, e.CardID),
	}, true
}

// DataOf returns an empty value of the type of a kind's data. It holds only the
// fields that are always present: a card that moves to another board has fewer
// than the sample.
func DataOf(kind Kind) any {
	if kind == KindCardMoved {
		return cardBetween{}
	}
	sample, _ := SampleOf(kind, "")
	return sample.Data
}
