package main

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// goalClients is the number of clients that the promises are made for, but for the reports: those are for one.
const goalClients = 16

// The names of the measures, as -only matches them and the table shows them.
const (
	nameCreate    = "create_card"
	nameUpdate    = "update_card"
	nameMove      = "move_card"
	nameGet       = "get_card"
	nameList1k    = "list_cards 1,000"
	nameList10k   = "list_cards 10,000"
	nameMixed     = "mixed, 80 % reads"
	nameCreateOne = "create_card, alone"
	nameGetOne    = "get_card, alone"

	nameTool     = "mcp, get_card"
	nameToolOld  = "mcp, get_card, 2025-11-25"
	nameToolRest = "mcp, the card over REST"

	nameSearchRare     = "search, rare word"
	nameSearchMiddling = "search, middling word"
	nameSearchCommon   = "search, common word"
	nameDashboard      = "dashboard"
	nameCalendar       = "calendar"
	nameFilterCards    = "filter cards"

	nameRuleWithout   = "update_card, 1,000/s"
	nameRuleFifth     = "automation for one in five, update_card, 1,000/s"
	nameRuleFifthRuns = "automation for one in five, runs"
	nameRuleWith      = "automation, update_card, 1,000/s"
	nameRuleRuns      = "automation, runs"

	nameOverloadBest    = "overload, best before"
	nameOverload        = "overload, five times that"
	nameOverloadRefused = "overload, refused"
	nameOverloadCalm    = "overload, a report again after"

	nameExport = "export 200,000 cards"

	nameHookDrain      = "webhooks, drain"
	nameHookDrainFives = "webhooks, drain of fives"
	nameHookDrainHost  = "webhooks, drain to one host"
	nameHookLive       = "webhooks, live"
	nameHookLiveFives  = "webhooks, live fives"
	nameHookPaced      = "webhooks, 1,000/s"
	nameHookHang       = "webhooks, 1,000/s, one hangs"
	nameHookBare       = "webhooks, bare client"
	nameSoak           = "soak"

	nameFirst       = "first answer"
	nameFirstFilled = "first answer, filled"
	nameIdle        = "memory idle"
	nameLoaded      = "memory in load"
	nameFolder      = "data folder"

	namePostgres = ", PostgreSQL"

	nameLarge = "large"

	nameHello     = "bare hello"
	nameMemory    = "bare 50 cards of memory"
	nameRows      = "bare 50 cards of SQLite"
	nameRow       = "bare card of SQLite"
	nameRawSingle = "raw SQLite, 1 a commit"
	nameRawGroup  = "raw SQLite, 16 a commit"
	nameFsync     = "fsync 4 kB"

	nameRawPostgres      = "raw PostgreSQL, 16 clients"
	nameRawPostgresAlone = "raw PostgreSQL, alone"
)

// promise is what a measure has to reach. Zero fields promise nothing.
type promise struct {
	clients  int           // for which it is made; 0 is goalClients
	rate     float64       // at least, a second
	p50      time.Duration // below
	p99      time.Duration // below
	cpu      float64       // below, milliseconds of the server a request
	noErrors bool
}

// promises answers what each measure has to reach on two processors.
func promises() map[string]promise {
	write := promise{rate: 1600, p99: 45 * time.Millisecond, noErrors: true}
	create := write
	create.cpu = 0.9
	alone := func(p50 time.Duration) promise { return promise{clients: 1, p50: p50, noErrors: true} }
	return map[string]promise{
		nameCreate:  create,
		nameUpdate:  write,
		nameMove:    write,
		nameGet:     {rate: 3000, cpu: 0.4},
		nameList1k:  {rate: 1200, cpu: 1.5},
		nameList10k: {cpu: 1.5},

		nameRuleWithout:   {rate: 950, noErrors: true},
		nameRuleFifth:     {rate: 950, noErrors: true},
		nameRuleFifthRuns: {rate: 180, p99: time.Second, noErrors: true},
		nameRuleWith:      {rate: 950, noErrors: true},
		nameRuleRuns:      {rate: 900, p99: time.Second, noErrors: true},

		nameTool:    {rate: 1000, noErrors: true},
		nameToolOld: {rate: 1000, noErrors: true},

		nameSearchRare:     alone(20 * time.Millisecond),
		nameSearchMiddling: alone(20 * time.Millisecond),
		nameSearchCommon:   alone(20 * time.Millisecond),
		nameDashboard:      alone(150 * time.Millisecond),
		nameCalendar:       alone(30 * time.Millisecond),
		nameFilterCards:    alone(30 * time.Millisecond),

		nameHookDrain:      {clients: hookPoints, rate: 4000, cpu: 0.15, noErrors: true},
		nameHookDrainFives: {clients: hookPoints, rate: 8000, noErrors: true},
		nameHookDrainHost:  {clients: hookPoints, noErrors: true},
		nameHookLive:       {noErrors: true},
		nameHookLiveFives:  {noErrors: true},
		nameHookPaced:      {clients: hookSenders, p50: 3 * time.Millisecond, p99: 50 * time.Millisecond, noErrors: true},
		nameHookHang:       {clients: hookSenders, p99: 50 * time.Millisecond, noErrors: true},
		nameSoak:           {clients: soakPoints, noErrors: true},
	}
}

// goals judges a result by its promise.
func (p promise) goals(res *result) []goal {
	var all []goal
	if p.rate > 0 {
		all = append(all, goal{"≥ " + thousands(p.rate) + "/s", res.rate() >= p.rate})
	}
	if p.p50 > 0 {
		met := res.latency.Count > 0 && res.latency.Quantile(0.50) < p.p50
		all = append(all, goal{fmt.Sprintf("p50 < %.0f ms", milliseconds(p.p50)), met})
	}
	if p.p99 > 0 {
		all = append(all, goal{fmt.Sprintf("p99 < %.0f ms", milliseconds(p.p99)), res.latency.Quantile(0.99) < p.p99})
	}
	if p.cpu > 0 {
		cpu := res.perRequest(res.serverCPU)
		all = append(all, goal{"CPU < " + strconv.FormatFloat(p.cpu, 'f', -1, 64) + " ms", cpu > 0 && cpu < p.cpu})
	}
	if p.noErrors {
		all = append(all, goal{"no error", res.errors == 0})
	}
	return all
}

// comparison sets a measure's rate beside another's of the same run.
type comparison struct {
	name, to string
	atLeast  float64 // 0 promises nothing
	cpu      float64 // of the other's processor time at most; 0 promises nothing
}

// comparisons answers what the table compares: a measure with the machine's limit for it, and the long list with the
// short one.
func comparisons() []comparison {
	return []comparison{
		{name: nameList10k, to: nameList1k, atLeast: 0.9},
		{name: nameList1k, to: nameRows},
		{name: nameList10k, to: nameRows},
		{name: nameGet, to: nameHello},
		{name: nameGet, to: nameRow},
		{name: nameRuleFifth, to: nameRuleWithout, atLeast: 0.95},
		{name: nameRuleWith, to: nameRuleWithout, atLeast: 0.95},
		{name: nameTool, to: nameToolRest, cpu: 1.3},
		{name: nameToolOld, to: nameToolRest, cpu: 1.3},
		{name: nameCreate, to: nameRawGroup},
		{name: nameCreateOne, to: nameRawSingle},
		{name: nameRows, to: nameMemory},
		{name: nameHookDrain, to: nameHookBare},
		{name: nameHookDrainFives, to: nameHookBare},
		{name: nameHookDrainHost, to: nameHookDrain},
		{name: nameHookLiveFives, to: nameHookBare},
		{name: nameRawSingle, to: nameFsync},
		{name: nameCreate + namePostgres, to: nameRawPostgres},
		{name: nameCreateOne + namePostgres, to: nameRawPostgresAlone},
		{name: nameRawPostgresAlone, to: nameFsync},
	}
}

// judge adds the ratios and goals to the rows of measures.
func judge(rows []row) {
	rates, times := make(map[string]float64), make(map[string]float64)
	for _, r := range rows {
		if r.result != nil {
			rates[r.name], times[r.name] = r.result.rate(), r.result.perRequest(r.result.serverCPU)
		}
	}
	promised, compared := promises(), comparisons()
	for i := range rows {
		r := &rows[i]
		if r.result == nil {
			continue
		}
		if p := promised[r.name]; r.result.clients == cmp.Or(p.clients, goalClients) {
			r.goals = append(r.goals, p.goals(r.result)...)
		}
		for _, c := range compared {
			if c.name != r.name || rates[c.to] == 0 {
				continue
			}
			ratio := rates[c.name] / rates[c.to]
			r.ratios = append(r.ratios, fmt.Sprintf("%.2f of %s", ratio, c.to))
			if c.atLeast > 0 {
				r.goals = append(r.goals, goal{fmt.Sprintf("≥ %v of %s", c.atLeast, c.to), ratio >= c.atLeast})
			}
			if c.cpu > 0 && times[c.to] > 0 {
				used := times[c.name] / times[c.to]
				r.ratios = append(r.ratios, fmt.Sprintf("CPU %.2f", used))
				r.goals = append(r.goals, goal{fmt.Sprintf("CPU ≤ %.1f of %s", c.cpu, c.to), used <= c.cpu})
			}
		}
	}
}
