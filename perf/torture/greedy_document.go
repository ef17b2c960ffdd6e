package main

import (
	"bytes"
	"fmt"
	"strings"
)

// greedyDocument returns a workspace document whose cards have descriptions of about one kilobyte.
func greedyDocument(owner, name string, boards, cards int) []byte {
	const at = "2026-01-02T03:04:05.000Z"
	text := strings.Repeat("common words and others, ", 40)
	times := fmt.Sprintf(`"createdAt":%q,"updatedAt":%q`, at, at)
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"format":"cardwall-workspace-export/1","exportedAt":%q,"workspace":{},"boards":[`, at)
	for n := range boards {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"format":"cardwall-export/1","exportedAt":%q,"boardVersion":%d,"board":{"id":"b%d","name":"%s %d",`+
			`"description":"","visibility":"workspace","features":{},"nextNumber":%d,"cards":%d,"createdBy":%q,%s},`+
			`"users":[{"id":%q,"name":"Grete"}],"labels":[],"lists":[{"id":"b%d-l","name":"List","wipLimit":null,"wipMode":"soft",%s}],`+
			`"cards":[`, at, cards, n, name, n+1, cards+1, cards, owner, times, owner, n, times)
		for i := range cards {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id":"b%d-c%d","listId":"b%d-l","number":%d,"title":"Card %d","description":%q,"labels":[],"assignees":[],`+
				`"createdBy":%q,%s}`, n, i, n, i+1, i+1, text, owner, times)
		}
		b.WriteString(`],"activity":[`)
		for i := range cards {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id":"b%d-a%d","type":"card.created","at":%q,"actor":{"type":"person","id":%q},"listId":"b%d-l",`+
				`"cardId":"b%d-c%d","changes":{},"boardVersion":%d}`, n, i, at, owner, n, n, i, i+1)
		}
		fmt.Fprintf(&b, `],"counts":{"users":1,"labels":0,"lists":1,"cards":%d,"activity":%d},"complete":true}`, cards, cards)
	}
	fmt.Fprintf(&b, `],"counts":{"boards":%d,"users":%d,"labels":0,"lists":%d,"cards":%d,"activity":%d},"complete":true}`,
		boards, boards, boards, boards*cards, boards*cards)
	return b.Bytes()
}
