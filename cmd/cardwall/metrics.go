package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// serveMetrics serves /metrics and profiles on a separate address. Only operators
// should be able to reach it. The returned function stops the server.
func serveMetrics(ctx context.Context, addr string, log *slog.Logger, registry *prometheus.Registry) (stop func(),
	err error) {
	listener, err := listenOn(ctx, log, addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s for metrics: %w", addr, err)
	}
	mux := http.NewServeMux()
	addProfiles(mux)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	log.Info("serving metrics", "address", "http://"+listener.Addr().String()+"/metrics")
	go func() { _ = server.Serve(listener) }() // returns after Close
	return func() { _ = server.Close() }, nil
}
