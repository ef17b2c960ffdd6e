package board

// The ids in a sample delivery.
const (
	sampleWorkspace = "wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"
	sampleBoard     = "brd_01jb2m3n4p5q6r7s8t9v0w1x2y"
	sampleCardID    = "crd_01jb2m3n4p5q6r7s8t9v0w1x2y"
	sampleListID    = "lst_01jb2m3n4p5q6r7s8t9v0w1x2y"
	samplePerson    = "usr_01jb2m3n4p5q6r7s8t9v0w1x2y"
	sampleLabel     = "lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"
)

func sampleCard() Card {
	date := "2026-03-10"
	return Card{ID: sampleCardID, BoardID: sampleBoard, ListID: sampleListID, Due: Due{DueDate: &date}}
}

func sampleList() List { return List{ID: sampleListID, BoardID: sampleBoard} }

func sampleItem() ChecklistItem {
	return ChecklistItem{ID: "chi_01jb2m3n4p5q6r7s8t9v0w1x2y", ChecklistID: "chk_01jb2m3n4p5q6r7s8t9v0w1x2y"}
}

// SampleOf returns a sample delivery of a kind. Its data comes from the constructors of
// real events. SampleOf returns false for a kind that is not sent to webhooks.
func SampleOf(kind Kind, baseURL string) (Outgoing, bool) {
	info, _ := kind.Info()
	if !info.Webhook || info.Sample == nil {
		return Outgoing{}, false
	}
	e := info.Sample()
	person, boardID := samplePerson, sampleBoard
	return Outgoing{
		ID: DeliveryID("itg_01jb2m3n4p5q6r7s8t9v0w1x2y", 42), Type: kind, Format: WebhookFormat, OccurredAt: 1772460000000,
		WorkspaceID: sampleWorkspace, BoardID: &boardID, BoardVersion: 42, Actor: Actor{Type: ActorPerson, ID: &person},
		Data: e.Data, Links: LinksOf(baseURL, sampleBoard, e.CardID),
	}, true
}

// DataOf returns a value of the type that describes the data of all events of a kind.
// The sample's type does not cover a card that moves to another board, so DataOf returns
// cardBetween for card.moved.
func DataOf(kind Kind) any {
	if kind == KindCardMoved {
		return cardBetween{}
	}
	sample, _ := SampleOf(kind, "")
	return sample.Data
}
