package main

import (
	"fmt"
	"io"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"time"
)

const (
	defaultProfileSeconds = 30
	maxProfileSeconds     = 300
)

// addProfiles serves profiles and execution traces at the paths of net/http/pprof,
// which go tool pprof expects. It does not use that package, because importing it
// registers handlers on the default mux.
func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "profile?seconds=30 (CPU)\ntrace?seconds=5\n")
		for _, p := range pprof.Profiles() {
			_, _ = fmt.Fprintf(w, "%s?debug=1 (%d)\n", p.Name(), p.Count())
		}
	})
	mux.HandleFunc("GET /debug/pprof/profile", record(pprof.StartCPUProfile, pprof.StopCPUProfile))
	mux.HandleFunc("GET /debug/pprof/trace", record(trace.Start, trace.Stop))
	mux.HandleFunc("GET /debug/pprof/{name}", func(w http.ResponseWriter, r *http.Request) {
		p := pprof.Lookup(r.PathValue("name"))
		if p == nil {
			http.Error(w, "There is no such profile. See the list at /debug/pprof/.", http.StatusNotFound)
			return
		}
		debug, _ := strconv.Atoi(r.FormValue("debug")) // 0, the default, is the format of go tool pprof
		if w.Header().Set("Content-Type", "application/octet-stream"); debug > 0 {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		}
		_ = p.WriteTo(w, debug) // fails only if the client has disconnected
	})
}

// record returns a handler that calls start, waits for the number of seconds in the
// request, and calls stop. Only one recording of each kind can run at a time.
func record(start func(io.Writer) error, stop func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seconds := defaultProfileSeconds
		if text := r.FormValue("seconds"); text != "" {
			var err error
			if seconds, err = strconv.Atoi(text); err != nil || seconds < 1 || seconds > maxProfileSeconds {
				http.Error(w, fmt.Sprintf("seconds must be a number from 1 to %d.", maxProfileSeconds), http.StatusBadRequest)
				return
			}
		}
		length := time.Duration(seconds) * time.Second
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(length + writeTimeout)); err != nil {
			http.Error(w, "The deadline of the response cannot be extended.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		if err := start(w); err != nil {
			http.Error(w, "Another recording of this kind is in progress. Try again later.", http.StatusConflict)
			return
		}
		defer stop()
		select {
		case <-time.After(length):
		case <-r.Context().Done():
		}
	}
}
