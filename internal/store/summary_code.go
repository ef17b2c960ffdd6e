package store

import (
	"encoding/binary"
	"errors"

	"cardwall/internal/board"
)

// A summary is stored in one row, because a report may read the summaries of a thousand
// boards. Its encoded values consist of variable-length numbers (see binary.AppendVarint),
// and of strings, each after its length. Sorted numbers are stored as differences.

// summaryFormat is stored with each summary. It must be incremented when the format or the
// set of counts changes. A server ignores summaries in other formats.
const summaryFormat = 1

var errSummary = errors.New("cannot decode the summary of a board")

type summaryWriter struct{ b []byte }

func (w *summaryWriter) number(n int64) { w.b = binary.AppendVarint(w.b, n) }

func (w *summaryWriter) count(n int) { w.number(int64(n)) }

func (w *summaryWriter) text(s string) {
	w.count(len(s))
	w.b = append(w.b, s...)
}

func (w *summaryWriter) instants(all []board.Instant) {
	w.count(len(all))
	last := board.Instant(0)
	for _, at := range all {
		w.number(int64(at - last))
		last = at
	}
}

func (w *summaryWriter) due(d *DueCounts) {
	w.count(d.Done)
	w.count(d.Undated)
	w.count(d.Past)
	w.count(d.PastFrom)
	w.count(len(d.Days))
	last := 0
	for _, on := range d.Days {
		w.count(on.Day - last)
		w.count(on.Cards)
		last = on.Day
	}
	w.instants(d.Times)
}

// encode returns the stored form of a summary. People are stored separately from all other
// counts, because an overview reads only the people.
func (s *Summary) encode() (counts, people []byte) {
	var w summaryWriter
	w.number(int64(s.CountedAt))
	w.count(s.Unassigned)
	w.count(len(s.Lists))
	for i := range s.Lists {
		l := &s.Lists[i]
		w.text(l.ID)
		w.text(l.Name)
		limit := -1
		if l.WIPLimit != nil {
			limit = *l.WIPLimit
		}
		w.count(limit)
		w.text(string(l.WIPMode))
		w.due(&l.DueCounts)
	}
	w.count(len(s.Labels))
	for i := range s.Labels {
		w.text(s.Labels[i].Name)
		w.text(string(s.Labels[i].Color))
		w.due(&s.Labels[i].DueCounts)
	}
	w.count(len(s.Oldest))
	for _, c := range s.Oldest {
		w.number(int64(c.UpdatedAt))
		w.text(c.ID)
	}
	w.count(s.LongStale)
	w.instants(s.Updated)
	w.instants(s.Created)
	w.count(len(s.Finished))
	last := board.Instant(0)
	for _, f := range s.Finished {
		w.number(int64(f.At - last))
		w.number(f.Lead)
		w.number(f.Cycle)
		last = f.At
	}
	var p summaryWriter
	p.count(len(s.People))
	for i := range s.People {
		p.text(s.People[i].UserID)
		p.instants(s.People[i].Assigned)
		p.due(&s.People[i].DueCounts)
	}
	return w.b, p.b
}

// summaryReader reads an encoded summary. After an error it returns zeros.
type summaryReader struct {
	b   []byte
	err error
}

func (r *summaryReader) number() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.b, r.err = nil, errSummary
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *summaryReader) count() int { return int(r.number()) }

// length reads the length of a list. Each entry takes at least one byte, so a length
// that exceeds the remaining bytes is an error.
func (r *summaryReader) length() int {
	n := r.count()
	if n < 0 || n > len(r.b) {
		r.b, r.err = nil, errSummary
		return 0
	}
	return n
}

func (r *summaryReader) text() string {
	n := r.length()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *summaryReader) instants() []board.Instant {
	all := make([]board.Instant, r.length())
	last := board.Instant(0)
	for i := range all {
		last += board.Instant(r.number())
		all[i] = last
	}
	return all
}

func (r *summaryReader) due(d *DueCounts) {
	d.Done, d.Undated, d.Past, d.PastFrom = r.count(), r.count(), r.count(), r.count()
	d.Days = make([]DayCount, r.length())
	last := 0
	for i := range d.Days {
		last += r.count()
		d.Days[i] = DayCount{last, r.count()}
	}
	d.Times = r.instants()
}

// decodeSummary decodes the stored form of a summary. It does not set Unplanned, which is
// stored in its own column.
func decodeSummary(counts, people []byte) (*Summary, error) {
	r := summaryReader{b: counts}
	s := &Summary{CountedAt: board.Instant(r.number()), Unassigned: r.count()}
	s.Lists = make([]ListSummary, r.length())
	for i := range s.Lists {
		l := &s.Lists[i]
		l.ID, l.Name = r.text(), r.text()
		if limit := r.count(); limit >= 0 {
			l.WIPLimit = &limit
		}
		l.WIPMode = board.WIPMode(r.text())
		r.due(&l.DueCounts)
	}
	s.Labels = make([]LabelSummary, r.length())
	for i := range s.Labels {
		s.Labels[i].Name, s.Labels[i].Color = r.text(), board.Color(r.text())
		r.due(&s.Labels[i].DueCounts)
	}
	s.Oldest = make([]OldCard, r.length())
	for i := range s.Oldest {
		s.Oldest[i] = OldCard{board.Instant(r.number()), r.text()}
	}
	s.LongStale, s.Updated, s.Created = r.count(), r.instants(), r.instants()
	s.Finished = make([]FinishedCard, r.length())
	last := board.Instant(0)
	for i := range s.Finished {
		last += board.Instant(r.number())
		s.Finished[i] = FinishedCard{last, r.number(), r.number()}
	}
	if r.err == nil && len(r.b) > 0 {
		r.err = errSummary
	}
	if r.err == nil {
		s.People, r.err = decodePeople(people)
	}
	return s, r.err
}

func decodePeople(b []byte) ([]PersonSummary, error) {
	r := summaryReader{b: b}
	people := make([]PersonSummary, r.length())
	for i := range people {
		r.person(&people[i])
	}
	if r.err == nil && len(r.b) > 0 {
		r.err = errSummary
	}
	return people, r.err
}

func (r *summaryReader) person(p *PersonSummary) {
	p.UserID, p.Assigned = r.text(), r.instants()
	r.due(&p.DueCounts)
}

// findPerson returns the counts of one of the encoded people, or nil if the person is not
// among them.
func findPerson(people []byte, userID string) (*PersonSummary, error) {
	r := summaryReader{b: people}
	for range r.length() {
		var p PersonSummary
		if r.person(&p); p.UserID == userID {
			return &p, r.err
		}
	}
	return nil, r.err
}
