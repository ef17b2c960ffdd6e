package app

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// ListWorkspaceChangesInput is the input of ListWorkspaceChanges.
type ListWorkspaceChangesInput struct {
	WorkspaceInput
	Since string         `json:"since,omitempty" maxLength:"2048" doc:"The cursor of the previous response. If it is older than 30 days, the request fails with the reason changes_removed. In that case, read the boards again, and start with from." example:"eyJiIjoxNzcyNDQyMDAwMDAwfQ"`
	From  *board.Instant `json:"from,omitempty" format:"date-time" doc:"Where to start without since: with the changes at this time or later. Defaults to 30 days ago, the earliest time." example:"2026-03-02T09:00:00.000Z"`
	Limit int            `json:"limit,omitempty" minimum:"1" maximum:"200" doc:"The maximum number of changes. Defaults to 50." example:"50"`
}

// WorkspaceChanges is a part of the changes in a workspace.
type WorkspaceChanges struct {
	Changes []board.Entry `json:"changes" doc:"The changes. Those of a board are in the order of their versions."`
	Cursor  string        `json:"cursor" doc:"Where the next request continues: send it as since. It stays the same while nothing changes." example:"eyJiIjoxNzcyNDQyMDAwMDAwfQ"`
	More    bool          `json:"more" doc:"Whether there are more changes now." example:"false"`
}

// ListWorkspaceChanges returns changes of all boards in a workspace that the caller can see, after the cursor of
// an earlier response.
func ListWorkspaceChanges(ctx context.Context, v *store.View, in ListWorkspaceChangesInput) (out WorkspaceChanges, err error) {
	if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
		return out, err
	}
	oldest := int64(v.Now()) - time.Duration(board.MinAge).Milliseconds()
	cursor := store.FeedCursor{Base: oldest}
	switch {
	case in.Since != "" && in.From != nil:
		return out, board.Invalid("from must not be given together with since.").In("from", board.RuleValue)
	case in.Since != "":
		if cursor, err = feedCursor(in.Since); err != nil {
			return out, err
		}
	case in.From != nil:
		cursor.Base = max(oldest, int64(*in.From)-1)
	}
	if cursor.Base < oldest {
		fault := board.Invalid("since is older than 30 days. Read the boards again, and start with from.").In("since", board.RuleValue)
		fault.Reason = board.ReasonChangesRemoved
		return out, fault
	}
	out.Changes, cursor, out.More, err = v.WorkspaceChanges(ctx, in.WorkspaceID, cursor, cmp.Or(in.Limit, 50))
	if err != nil {
		return out, err
	}
	text, err := json.Marshal(cursor)
	if err != nil {
		return out, fmt.Errorf("encode cursor: %w", err)
	}
	out.Cursor = base64.RawURLEncoding.EncodeToString(text)
	return out, nil
}

func feedCursor(text string) (c store.FeedCursor, err error) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(decoded, &c)
	}
	if err != nil {
		err = board.Invalid("since must be the cursor of an earlier response.").In("since", board.RuleValue)
	}
	return c, err
}
