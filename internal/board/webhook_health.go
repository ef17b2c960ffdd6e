package board

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Limits of the health of a webhook.
const (
	HealthPeriod = 24 * time.Hour // how far back it looks
	HealthErrors = 5              // failed attempts that it contains
)

// HealthStart returns the start of the period that the health of a webhook covers. It is
// rounded down to a full hour, so that the health and its entity tag stay the same between
// attempts.
func HealthStart(now Instant) Instant {
	return InstantOf(now.Time().Add(-HealthPeriod).Truncate(time.Hour))
}

// WebhookHealth summarizes the latest attempts to send a webhook's deliveries.
type WebhookHealth struct {
	Since       Instant          `json:"since" format:"date-time" doc:"The start of the period: 24 hours ago, rounded down to a full hour, or, if the log has its maximum of 100 deliveries, the time of the oldest one if that is later." example:"2026-03-01T14:00:00.000Z"`
	Attempts    int              `json:"attempts" doc:"The number of attempts in the period, test events included." example:"40"`
	Succeeded   int              `json:"succeeded" doc:"The number of these attempts that got a response with a status of 2xx." example:"38"`
	SuccessRate *float64         `json:"successRate" doc:"succeeded divided by attempts, rounded to four decimals; null if there were no attempts." example:"0.95"`
	P50         *int64           `json:"p50Ms" doc:"The median of the durations of attempts with a response, in milliseconds; null if there were none." example:"84"`
	P95         *int64           `json:"p95Ms" doc:"The 95th percentile of these durations, in milliseconds; null if there were none." example:"310"`
	Errors      []WebhookFailure `json:"errors" doc:"The last five attempts that did not succeed, newest first."`
}

// WebhookFailure is an attempt that did not succeed.
type WebhookFailure struct {
	At         Instant `json:"at" format:"date-time" doc:"When the attempt started." example:"2026-03-02T14:00:00.000Z"`
	DeliveryID string  `json:"deliveryId" doc:"The id of the delivery." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
	HTTPStatus *int    `json:"httpStatus" doc:"The HTTP status of the response; null if there was none." example:"503"`
	Outcome    string  `json:"outcome" doc:"A description of the result, as in the delivery's log." example:"HTTP 503"`
}

// LoggedAttempt is an attempt of a delivery.
type LoggedAttempt struct {
	DeliveryID string
	DeliveryAttempt
}

// HealthOf summarizes the attempts since a time. Percentiles are nearest-rank: the smallest
// duration that at least that share of the durations does not exceed.
func HealthOf(since Instant, attempts []LoggedAttempt) WebhookHealth {
	h := WebhookHealth{Since: since, Errors: []WebhookFailure{}}
	var durations []int64
	for _, a := range attempts {
		if a.At < since {
			continue
		}
		h.Attempts++
		if a.HTTPStatus != nil {
			durations = append(durations, a.Duration)
		}
		if a.HTTPStatus != nil && *a.HTTPStatus >= 200 && *a.HTTPStatus < 300 {
			h.Succeeded++
			continue
		}
		h.Errors = append(h.Errors, WebhookFailure{a.At, a.DeliveryID, a.HTTPStatus, a.Outcome})
	}
	slices.SortFunc(h.Errors, func(a, b WebhookFailure) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.DeliveryID, a.DeliveryID))
	})
	h.Errors = slices.Clip(h.Errors[:min(len(h.Errors), HealthErrors)])
	if h.Attempts > 0 {
		h.SuccessRate = new(math.Round(float64(h.Succeeded)/float64(h.Attempts)*1e4) / 1e4)
	}
	slices.Sort(durations)
	if n := len(durations); n > 0 {
		h.P50, h.P95 = &durations[(n*50+99)/100-1], &durations[(n*95+99)/100-1]
	}
	return h
}
