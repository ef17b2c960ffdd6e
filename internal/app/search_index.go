package app

import (
	"context"
	"log/slog"
	"time"

	"cardwall/internal/backoff"
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
	const cannotMerge = "new entries not merged into the search index; searches and some writes are slower"
	failures := backoff.NewLog(s.Log)
	for pause := mergeInterval; backoff.Pause(ctx, pause); {
		pause = mergeInterval
		if err := s.DB.MergeSearchIndex(ctx); err == nil {
			failures.Succeeded(cannotMerge)
		} else if ctx.Err() == nil {
			pause = failures.Failed(cannotMerge, err)
		}
	}
}
