package app

import (
	"context"
	"log/slog"
	"time"

	"cardwall/internal/store"
)

// mergeInterval is the time between two merges. Besides the index, a search has to read
// only the entries that were added in this interval.
const mergeInterval = time.Second

// SearchIndex merges new entries into PostgreSQL's search index, so that writes do not
// have to.
type SearchIndex struct {
	DB  *store.DB
	Log *slog.Logger
}

// Run merges new entries every second until ctx ends.
func (s SearchIndex) Run(ctx context.Context) {
	tick := time.NewTicker(mergeInterval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.DB.MergeSearchIndex(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.Log.Warn("new entries not merged into the search index; searches and some writes are slower", "error", err)
		}
		failing = err != nil
	}
}
