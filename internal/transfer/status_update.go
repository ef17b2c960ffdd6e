package transfer

import (
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// statusUpdates writes the status updates of a board, oldest first.
func (out *writer) statusUpdates(boardID string, n *countsRecord) error {
	return out.array("statusUpdates", func() error {
		return pages(func(after store.StatusUpdateCursor) ([]board.StatusUpdate, error) {
			if err := out.ctx.Err(); err != nil {
				return nil, err
			}
			return out.v.ExportStatusUpdates(out.ctx, boardID, after, cardPageSize)
		}, func(s board.StatusUpdate) (store.StatusUpdateCursor, error) {
			r := statusUpdateRecord{ID: s.ID, Status: s.Status, Title: s.Title, Text: s.Text, StartDate: s.StartDate, TargetDate: s.TargetDate,
				CreatedAt: s.CreatedAt, Snapshot: s.Snapshot}
			if s.Author != nil {
				r.Author = &s.Author.ID
			}
			n.StatusUpdates++
			return store.StatusUpdateCursor{At: s.CreatedAt, ID: s.ID}, out.value(r)
		})
	})
}

func (r *boardReader) statusUpdate(at string, in *statusUpdateRecord) error {
	id, err := r.newRecordID(at, in.ID, "sts_")
	if err := first(err, r.title(at+".title", &in.Title), r.text(at+".text", in.Text), r.times(at, in.CreatedAt, in.CreatedAt),
		status(at, in.Status), span(at, in.StartDate, in.TargetDate), figures(at, in.Snapshot)); err != nil {
		return err
	}
	s := board.StatusUpdate{ID: id, BoardID: r.target.ID, Status: in.Status, Title: in.Title, Text: in.Text,
		StartDate: in.StartDate, TargetDate: in.TargetDate, CreatedAt: in.CreatedAt, Snapshot: in.Snapshot}
	if s.CreatedAt < 0 { // exports read status updates from 1970 on
		return board.Invalid("%s.createdAt must not be before 1970.", at)
	}
	author, err := r.optionalPerson(at+".author", in.Author)
	if err != nil {
		return err
	}
	if author != nil {
		s.Author = &board.UserRef{ID: *author}
	}
	r.counts.StatusUpdates++
	r.imported.StatusUpdates++
	return r.draft.StatusUpdate(r.ctx, &s)
}

func status(at string, s board.Status) error {
	switch s {
	case board.StatusOnTrack, board.StatusAtRisk, board.StatusOffTrack, board.StatusOnHold, board.StatusComplete:
		return nil
	}
	return board.Invalid("%s.status must be one of on_track, at_risk, off_track, on_hold, complete.", at)
}

// span returns an error if a date is invalid or the target date is before the
// start date.
func span(at string, start, target *string) error {
	if err := first(date(at+".startDate", start), date(at+".targetDate", target)); err != nil {
		return err
	}
	if start != nil && target != nil && *target < *start {
		return board.Invalid("%s.targetDate must not be before startDate.", at)
	}
	return nil
}

func date(at string, s *string) error {
	if s == nil {
		return nil
	}
	_, err := board.ParseDate(at, *s)
	return err
}

func figures(at string, f board.Figures) error {
	all := []int{f.Open, f.Done, f.Overdue, f.DueIn7Days, f.Unassigned, f.Undated}
	if slices.Min(all) < 0 || slices.Max(all) > maxNumber {
		return board.Invalid("%s.snapshot must contain card counts from 0 to %d.", at, maxNumber)
	}
	return nil
}
