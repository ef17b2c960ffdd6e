package board

// The built-in templates for product and engineering teams.

func kanbanTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000001", "Kanban",
		"A steady flow of work. Cards are pulled to the right when there is room, and the limits on the middle lists show where work piles up.",
		[]TemplateLabel{{"Feature", "blue"}, {"Defect", "red"}, {"Chore", "gray"}, {"Expedite", "orange"}, {"Blocked", "purple"}},
		newList("Ideas",
			start("How this board works", "Work moves from left to right. **Pull, don't push:** take the next card from *Ready* only when "+
				"your list has room.\n\nA warning on a list's count means that it holds too many cards. Help finish one of them "+
				"before you start something new."),
			start("Write an idea down in one sentence", "Who wants what, and why? Details can wait until the card moves to *Ready*.", 0)),
		limited("Ready", 8,
			start("Agree on what makes a card ready", "Anyone on the team can start a ready card without asking.", 2).
				with("Ready means", "The goal is clear to anyone who takes it", "It can be finished within a few days",
					"Nothing outside the team blocks it", "We know how to tell when it is done")),
		limited("In progress", 4,
			start("Put your first real task here", "Assign yourself, and add a due date only if missing it has consequences.", 0)),
		limited("Review", 3,
			start("Agree on who reviews, and how fast", "A review that waits two days costs more than it finds. Agree on a deadline, "+
				"for example the end of the next working day.", 2)),
		newList("Done"))
}

func sprintTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000002", "Scrum sprint",
		"One sprint from planning to retrospective. When the next sprint begins, copy the board, or archive the cards in Done.",
		[]TemplateLabel{{"Story", "green"}, {"Task", "sky"}, {"Bug", "red"}, {"Spike", "purple"}, {"Tech debt", "brown"},
			{"Sprint goal", "yellow"}},
		newList("Product backlog",
			start("As a new customer, I want to see a price before I sign up", "So that I can decide without sharing my "+
				"email address.\n\n**Accepted when** the price of every plan is shown without signing in, taxes included.", 0),
			start("Find out why the nightly report takes two hours", "Time box: one day. The result is a note with a proposal, not a fix.", 3)),
		newList("Sprint backlog",
			start("Sprint goal", "Write the goal of this sprint here in one sentence. If a card does not serve it, ask why it is in the sprint.", 5),
			start("Sprint planning", "At most two hours for a two-week sprint.", 1).
				with("Agenda", "Count the days each of us is available", "Agree on the sprint goal", "Pull stories until the team "+
					"says stop", "Split each story into tasks of at most a day", "Check the goal against what was pulled")),
		limited("In progress", 5),
		limited("In review", 4),
		limited("Testing", 4),
		newList("Done",
			start("Definition of done", "Keep this card at the top. A story is done when every item is true.", 5).
				with("Done means", "Reviewed by someone else", "Tests pass on every change", "The documentation is up to date",
					"It is in production, or could be today", "The product owner has seen it")),
		newList("Retrospective",
			start("What went well?", "One comment for each thing we want to keep."),
			start("What held us up?", "One comment for each thing. Describe circumstances, not people."),
			start("What will we change in the next sprint?", "Two changes at most, each with an owner.").
				with("We will", "First change", "Second change")))
}

func bugTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000003", "Bug tracker",
		"Reports come in on the left, then are triaged, fixed and verified. Labels show the severity; the order shows the priority.",
		[]TemplateLabel{{"Critical", "red"}, {"Major", "orange"}, {"Minor", "yellow"}, {"Cosmetic", "gray"}, {"Regression", "pink"},
			{"Security", "purple"}, {"Cannot reproduce", "brown"}},
		newList("Reported",
			start("How to report a bug", "Copy this card for each report, and fill in what you know.\n\n**What I did**\n\n1. "+
				"…\n\n**What I expected**\n\n…\n\n**What happened instead**\n\n…\n\n**Where** (version, browser or device, time of day)\n\n…").
				with("A good report", "One bug per card", "The steps to reproduce it from a fresh start", "The exact error message, or a screenshot",
					"How often it happens: always, sometimes, once")),
		limited("Triage", 10,
			start("Triage new reports", "Fifteen minutes, twice a week. Handle security reports immediately.").
				with("For each report", "Can we reproduce it?", "Is it a duplicate? Link the original and archive this card",
					"Severity: Critical, Major, Minor or Cosmetic", "Who is affected, and is there a workaround?",
					"Confirm it, or explain politely why not")),
		newList("Confirmed",
			start("How we order this list", "The top card is fixed next. Order by impact (severity times the number of people affected), not "+
				"by how loudly a bug was reported. Critical bugs skip the queue.", 1)),
		limited("Fixing", 5),
		limited("Verifying", 5,
			start("What verifying means here", "Someone other than the author repeats the steps of the report on the released version, "+
				"and tests related features.").
				with("Before a bug is closed", "The steps no longer reproduce it", "A test covers it", "The reporter has been informed")),
		newList("Closed"),
		newList("Not now",
			start("Why these reports are here", "They are real bugs, but not worth fixing at the moment. Review this list once a quarter, and "+
				"close what nobody has asked about.")))
}

func roadmapTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000005", "Product roadmap",
		"What we build now, next and later, and why. There are no dates: the further left a card is, the more certain it is.",
		[]TemplateLabel{{"Customer request", "green"}, {"Growth", "blue"}, {"Retention", "teal"}, {"Foundation", "brown"},
			{"Legal", "purple"}, {"Bet", "orange"}},
		limited("Now", 4,
			start("Single sign-on for larger customers", "**Problem.** Companies with more than 200 people cannot buy software that their "+
				"directory does not control.\n\n**We will know that it worked when** three of the five "+
				"customers waiting for it have enabled it.", 0, 1).
				with("Before it leaves this list", "The problem is written down in the customer's words", "There is one success metric, with "+
					"today's value", "One person owns it end to end", "We have written down what is out of scope")),
		limited("Next", 6,
			start("Self-explanatory first hour", "Half of the people who sign up never return after the first day. Watch five of them "+
				"use the product before building anything.", 2)),
		newList("Later",
			start("Write problems here, not solutions", "\"Teams lose track of decisions\" leaves room to think; \"a decisions tab\" does not.", 3)),
		newList("Exploring",
			start("Ask five customers how they plan their week", "Thirty minutes each. Ask what they did last week, not what they want.", 5).
				with("Interviews", "First", "Second", "Third", "Fourth", "Fifth")),
		newList("Shipped",
			start("Look back four weeks after each launch", "Did the metric change? Keep it, fix it or roll it back, and write down "+
				"what we learned.")),
		newList("Not planned",
			start("Say no in public", "For each thing we will not do, write one honest sentence that explains why. Then nobody has to ask twice.")))
}

func incidentTemplate() BuiltIn {
	return builtIn("tpl_0000000000000000000000000a", "Incident response",
		"From the first alert to the last follow-up. One card per incident: its comments are the log, with the time of each step.",
		[]TemplateLabel{{"SEV 1: down for everyone", "red"}, {"SEV 2: major impact", "orange"}, {"SEV 3: minor impact", "yellow"},
			{"Security", "purple"}, {"Data loss", "pink"}, {"Third party", "gray"}},
		newList("Runbooks",
			start("First fifteen minutes", "Keep this card. Copy it for each incident, and move the copy to *Investigating*.").
				with("If you see it first", "Say in the channel that you are handling it", "Set a severity; you can correct it later",
					"Name an incident lead; the lead does not type commands", "Name someone to inform customers and colleagues",
					"Write the time and the symptom as the first comment", "What changed in the last hour? Roll it back first, investigate afterwards"),
			start("What to tell customers", "Send the first message within thirty minutes, then one every hour, even if there is no news.\n\n"+
				"> Since 10:20 UTC, some customers have been unable to sign in. We know the cause and are fixing it. Next update at 11:30 UTC.\n\nNo "+
				"promises, no blame, no jargon."),
			start("Who to call, and when", "Store names and phone numbers with your secrets. Write here only where to find them.")),
		limited("Investigating", 2),
		limited("Mitigating", 2),
		newList("Monitoring",
			start("When is it over?", "The symptom is gone, metrics have been normal for an hour, and no manual workaround is needed.")),
		newList("Review",
			start("Blameless review", "Within five working days, one hour at most. We ask what made the mistake easy, never who made it.").
				with("Questions for the review", "What did customers notice, and for how long?",
					"How did we detect it, and could we have detected it sooner?",
					"What helped, and what got in the way?", "Where were we lucky?", "Which three things will we change, and who owns each?")),
		newList("Follow-ups"),
		newList("Closed"))
}
