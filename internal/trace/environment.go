package trace

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// FromEnvironment reads the environment variables of OpenTelemetry
// (OpenTelemetry Specification, "Environment Variable Specification" and "OTLP
// Exporter Configuration"). On is false unless an endpoint is set, so nothing
// is sent by default. It returns an error for settings that this program does
// not support.
func FromEnvironment(get func(name string) string) (o Options, on bool, err error) {
	disabled := strings.EqualFold(strings.TrimSpace(get("OTEL_SDK_DISABLED")), "true")
	if exporter := get("OTEL_TRACES_EXPORTER"); disabled || exporter == "none" {
		return o, false, nil
	} else if exporter != "" && exporter != "otlp" {
		return o, false, errors.New("OTEL_TRACES_EXPORTER must be otlp or none")
	}
	// Variables for traces take precedence over general ones.
	of := func(name string) string {
		return cmp.Or(get("OTEL_EXPORTER_OTLP_TRACES_"+name), get("OTEL_EXPORTER_OTLP_"+name))
	}
	if o.Endpoint = get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); o.Endpoint == "" {
		base := get("OTEL_EXPORTER_OTLP_ENDPOINT")
		if base == "" {
			return o, false, nil
		}
		o.Endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if u, err := url.Parse(o.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return o, false, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be the http:// or https:// URL of a collector")
	}
	if protocol := of("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return o, false, errors.New("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf; collectors listen for it on " +
			"port 4318")
	}
	switch of("COMPRESSION") {
	case "", "none":
	case "gzip":
		o.Gzip = true
	default:
		return o, false, errors.New("OTEL_EXPORTER_OTLP_COMPRESSION must be gzip or none")
	}
	if o.Headers, err = pairs(of("HEADERS")); err != nil {
		return o, false, errors.New("OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs separated " +
			"by commas") // the error's text may hold secrets
	}
	if o.Attributes, err = pairs(get("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return o, false, errors.New("OTEL_RESOURCE_ATTRIBUTES must be name=value pairs separated by commas")
	}
	o.Service = cmp.Or(get("OTEL_SERVICE_NAME"), o.Attributes["service.name"], "cardwall")
	if o.Sampler, err = sampler(get("OTEL_TRACES_SAMPLER"), get("OTEL_TRACES_SAMPLER_ARG")); err != nil {
		return o, false, err
	}
	var milliseconds [2]int
	for _, n := range []struct {
		into   *int
		name   string
		value  string
		absent int
	}{
		{&milliseconds[0], "OTEL_EXPORTER_OTLP_TIMEOUT", of("TIMEOUT"), 10_000},
		{&milliseconds[1], "OTEL_BSP_SCHEDULE_DELAY", get("OTEL_BSP_SCHEDULE_DELAY"), 5_000},
		{&o.Queue, "OTEL_BSP_MAX_QUEUE_SIZE", get("OTEL_BSP_MAX_QUEUE_SIZE"), 8_192},
		{&o.Batch, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", get("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"), 512},
	} {
		*n.into = n.absent
		if n.value == "" {
			continue
		}
		if *n.into, err = strconv.Atoi(strings.TrimSpace(n.value)); err != nil || *n.into <= 0 || *n.into > 1<<20 {
			return o, false, fmt.Errorf("%s must be a whole number from 1 to %d", n.name, 1<<20)
		}
	}
	o.Timeout, o.Delay = time.Duration(milliseconds[0])*time.Millisecond, time.Duration(milliseconds[1])*time.Millisecond
	o.Client, err = client(of("CERTIFICATE"), of("CLIENT_CERTIFICATE"), of("CLIENT_KEY"))
	return o, err == nil, err
}

// pairs parses a list of names and values, percent-encoded (W3C Baggage).
func pairs(text string) (map[string]string, error) {
	found := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return nil, errors.New("invalid list of names and values")
		}
		found[name] = value
	}
	return found, nil
}

func sampler(name, argument string) (Sampler, error) {
	kind, parent := strings.CutPrefix(cmp.Or(strings.TrimSpace(name), "parentbased_always_on"), "parentbased_")
	switch kind {
	case "always_on":
		return Sampler{parent, 1}, nil
	case "always_off":
		return Sampler{parent, 0}, nil
	case "traceidratio":
		share := 1.0
		if argument != "" {
			var err error
			if share, err = strconv.ParseFloat(strings.TrimSpace(argument), 64); err != nil || !(share >= 0 && share <= 1) {
				return Sampler{}, errors.New("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1")
			}
		}
		return Sampler{parent, share}, nil
	}
	return Sampler{}, errors.New("OTEL_TRACES_SAMPLER must be always_on, always_off, traceidratio, or one of these " +
		"with the prefix parentbased_")
}

// client returns an HTTP client for the collector, with its certificate
// authorities and a client certificate if they are set.
func client(authorities, certificate, key string) (*http.Client, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if authorities != "" {
		text, err := os.ReadFile(authorities)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_CERTIFICATE: the file contains no PEM certificate")
		}
	}
	if certificate != "" || key != "" {
		own, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		secure.Certificates = []tls.Certificate{own}
	}
	return &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure, MaxIdleConnsPerHost: 1,
			IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
