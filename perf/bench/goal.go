package main

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// goalClients is the number of clients that the goals are for, except those of reports, which are for one.
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

	nameSearchRare   = "search, rare word"
	nameSearchMedium = "search, medium word"
	nameSearchCommon = "search, common word"
	nameDashboard    = "dashboard"
	nameCalendar     = "calendar"
	nameFilterCards  = "filter cards"

	nameRuleWithout   = "update_card, 1,000/s"
	nameRuleFifth     = "automation for one in five, update_card, 1,000/s"
	nameRuleFifthRuns = "automation for one in five, runs"
	nameRuleWith      = "automation, update_card, 1,000/s"
	nameRuleRuns      = "automation, runs"

	nameOverloadBest     = "overload, best before"
	nameOverload         = "overload, five times that"
	nameOverloadRefused  = "overload, refused"
	nameOverloadRecovery = "overload, a report again after"

	nameExport = "export 200,000 cards"

	nameNeighborNobody   = "neighbor, nobody"
	nameNeighborSearches = "neighbor, 8 searches in 50,000 cards"
	nameNeighborExports  = "neighbor, 8 exports at 100 kB/s"
	nameNeighborDrips    = "neighbor, 200 dripping uploads"
	nameNeighborBad      = "neighbor, 3 imports of 93 MB, last byte wrong"
	nameNeighborCopy     = "neighbor, copy of 5,000 heavy cards"
	nameNeighborImport   = "neighbor, import of 86 MB"
	nameNeighborLarge    = "large, 8 greedy searches"
	nameRetention        = "retention of ten years"

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

// promise is what a measure must reach. A zero field promises nothing.
type promise struct {
	clients  int           // the number of clients that it is for; 0 is goalClients
	rate     float64       // minimum per second
	p50      time.Duration // upper limit
	p99      time.Duration // upper limit
	cpu      float64       // upper limit for the server, in milliseconds per request
	noErrors bool
}

// promises returns what each measure must reach on two processors.
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

		nameSearchRare:   alone(20 * time.Millisecond),
		nameSearchMedium: alone(20 * time.Millisecond),
		nameSearchCommon: alone(20 * time.Millisecond),
		nameDashboard:    alone(150 * time.Millisecond),
		nameCalendar:     alone(30 * time.Millisecond),
		nameFilterCards:  alone(30 * time.Millisecond),

		nameHookDrain:      {clients: hookEndpoints, rate: 4000, cpu: 0.15, noErrors: true},
		nameHookDrainFives: {clients: hookEndpoints, rate: 8000, noErrors: true},
		nameHookDrainHost:  {clients: hookEndpoints, noErrors: true},
		nameHookLive:       {noErrors: true},
		nameHookLiveFives:  {noErrors: true},
		nameHookPaced:      {clients: hookSenders, p50: 3 * time.Millisecond, p99: 50 * time.Millisecond, noErrors: true},
		nameHookHang:       {clients: hookSenders, p99: 50 * time.Millisecond, noErrors: true},
		nameSoak:           {clients: soakEndpoints, noErrors: true},
	}
}

// goals compares a result with its promise.
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

// comparison compares the rate of a measure with another of the same run.
type comparison struct {
	name, to string
	atLeast  float64 // 0 promises nothing
	cpu      float64 // maximum processor time as a multiple of the other; 0 promises nothing
}

// comparisons returns what the table compares: mostly a measure with the machine's limit for it.
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

// judge adds the ratios and goals to the rows.
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
