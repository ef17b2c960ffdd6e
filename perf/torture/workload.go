package main

import (
	"cardwall/perf/fleet"
	"cardwall/perf/server"
)

// workload is the fleet of a trial.
type workload struct {
	*trialRun
	*fleet.Fleet
}

// newWorkload populates an installation through its first server, which it starts if necessary, and returns the workload.
func (t *trialRun) newWorkload(nodes ...*server.Server) (*workload, error) {
	f, err := fleet.New(t.ctx, nodes...)
	if err != nil {
		return nil, err
	}
	t.cleanup(func() error {
		f.Close()
		return nil
	})
	t.counted = true
	return &workload{t, f}, nil
}

// audit compares the data and the deliveries with the acknowledged writes. The trial fails if they differ.
func (w *workload) audit() error {
	r, err := w.Audit()
	w.count(r)
	for _, problem := range r.Problems {
		w.fail("%s", problem)
	}
	return err
}

// count copies the numbers of a result to the outcome of the trial.
func (w *workload) count(r fleet.Result) {
	w.acknowledged, w.lost, w.duplicated, w.missing = r.Acknowledged, r.Lost, r.Duplicated, r.Missing
	w.unavailable = r.Unavailable
}
