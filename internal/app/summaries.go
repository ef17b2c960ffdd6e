package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	summaryInterval = 5 * time.Second // between two runs
	summaryRescan   = 2 * time.Minute // between two searches for large workspaces
	summaryLease    = time.Minute
	summariesAtOnce = 8 // maximum number of boards counted at a time
	// summaryShare limits counting to a tenth of the server's time, even if many boards of
	// large workspaces change all the time. Reports themselves count the cards of boards
	// whose summaries are out of date.
	summaryShare = 10
	// summaryPause is the longest pause after counting. If counting takes longer than a ninth
	// of summaryPause, its share is greater than a tenth.
	summaryPause = time.Second
)

// Summaries updates the board summaries that speed up reports on large workspaces. Only
// one of several servers does this at a time.
type Summaries struct {
	DB     *store.DB
	Holder string // the server's own name
	Log    *slog.Logger

	LargeFrom int // minimum number of cards in a workspace with summaries; 0 for the default
}

// Log messages for failed tasks.
const (
	cannotListLarge = "large workspaces not listed"
	cannotCount     = "boards not counted for reports"
)

// Run updates the summaries until ctx ends.
func (s Summaries) Run(ctx context.Context) {
	var (
		large   []string
		scanned time.Time
	)
	failures := backoff.NewLog(s.Log)
	for pause := time.Duration(0); backoff.Pause(ctx, pause); {
		pause = summaryInterval
		if time.Since(scanned) > summaryRescan {
			found, err := s.large(ctx)
			if err != nil {
				pause = s.failed(ctx, failures, cannotListLarge, err)
				continue
			}
			failures.Succeeded(cannotListLarge)
			large, scanned = found, time.Now()
		}
		failed := false
		for _, workspaceID := range large {
			if _, err := s.Refresh(ctx, workspaceID); err != nil {
				pause, failed = s.failed(ctx, failures, cannotCount, err, "workspace", workspaceID), true
			}
		}
		if !failed {
			failures.Succeeded(cannotCount)
		}
	}
}

// failed logs a failure, unless ctx has ended, and returns the pause before the next attempt.
func (s Summaries) failed(ctx context.Context, failures *backoff.Log, task string, err error, attrs ...any) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	return failures.Failed(task, err, attrs...)
}

func (s Summaries) large(ctx context.Context) (ids []string, err error) {
	err = s.DB.Report(ctx, board.System(), func(v *store.View) (err error) {
		ids, err = v.LargeWorkspaces(ctx, s.LargeFrom)
		return err
	})
	return ids, err
}

// Refresh counts the boards of a workspace whose summaries are missing or out of date, until
// no such board is left. It skips boards that were counted only seconds ago. It stops if
// another server holds the lease. It returns the number of boards counted.
func (s Summaries) Refresh(ctx context.Context, workspaceID string) (counted int, err error) {
	for {
		began := time.Now()
		var ids []string
		if err := s.DB.Report(ctx, board.System(), func(v *store.View) (err error) {
			ids, err = v.OutdatedSummaries(ctx, workspaceID, summariesAtOnce)
			return err
		}); err != nil {
			return counted, fmt.Errorf("list boards to count: %w", err)
		}
		if len(ids) == 0 {
			return counted, nil
		}
		if held, err := s.DB.Lease(ctx, "summaries", s.Holder, summaryLease); err != nil || !held {
			return counted, err
		}
		if err := s.DB.KeepSummaries(ctx, ids); err != nil {
			return counted, err
		}
		counted += len(ids)
		select {
		case <-ctx.Done():
			return counted, ctx.Err()
		case <-time.After(min((summaryShare-1)*time.Since(began), summaryPause)):
		}
	}
}
