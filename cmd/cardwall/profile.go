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
	profileSeconds = 30 // of a profile for which nobody asks for another time
	profileMost    = 300
)

// addProfiles serves what go tool pprof and go tool trace read, at the paths that
// they expect. net/http/pprof is not used: it registers itself on the default mux.
func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "profile?seconds=30 (CPU)\ntrace?seconds=5\n")
		for _, p := range pprof.Profiles() {
			_, _ = fmt.Fprintf(w, "%s?debug=1 (%d)\n", p.Name(), p.Count())
		}
	})
	mux.HandleFunc("GET /debug/pprof/profile", during(pprof.StartCPUProfile, pprof.StopCPUProfile))
	mux.HandleFunc("GET /debug/pprof/trace", during(trace.Start, trace.Stop))
	mux.HandleFunc("GET /debug/pprof/{name}", func(w http.ResponseWriter, r *http.Request) {
		p := pprof.Lookup(r.PathValue("name"))
		if p == nil {
			http.Error(w, "There is no such profile; /debug/pprof/ lists them.", http.StatusNotFound)
			return
		}
		debug, _ := strconv.Atoi(r.FormValue("debug")) // 0 without one: the format of go tool pprof
		if w.Header().Set("Content-Type", "application/octet-stream"); debug > 0 {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		}
		_ = p.WriteTo(w, debug) // the reader may be gone
	})
}

// during answers what is recorded from start to stop, for as many seconds as the
// request says. One recording of a kind runs at a time.
func during(start func(io.Writer) error, stop func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seconds := profileSeconds
		if text := r.FormValue("seconds"); text != "" {
			var err error
			if seconds, err = strconv.Atoi(text); err != nil || seconds < 1 || seconds > profileMost {
				http.Error(w, fmt.Sprintf("seconds must be a number from 1 to %d.", profileMost), http.StatusBadRequest)
				return
			}
		}
		length := time.Duration(seconds) * time.Second
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(length + writeTimeout)); err != nil {
			http.Error(w, "The time of the answer cannot be extended.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		if err := start(w); err != nil {
			http.Error(w, "A recording of this kind is under way already; try again later.", http.StatusConflict)
			return
		}
		defer stop()
		select {
		case <-time.After(length):
		case <-r.Context().Done():
		}
	}
}
