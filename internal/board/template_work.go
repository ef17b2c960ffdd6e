package board

// The built-in templates for teams that make something.

func kanbanTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000001", "Kanban",
		"A steady flow of work. Cards are pulled to the right when there is room, and the limits on the middle lists show where work piles up.",
		[]TemplateLabel{{"Feature", "blue"}, {"Defect", "red"}, {"Chore", "gray"}, {"Expedite", "orange"}, {"Blocked", "purple"}},
		column("Ideas",
			start("How this board works", "Work moves from left to right. **Pull, don't push:** take the next card from *Ready* only when "+
				"your list has room.\n\nA list whose count shows a warning holds more than it should. Before starting something new, help to "+
				"finish what is in it."),
			start("Write an idea down in one sentence", "Who wants what, and why? Details can wait until the card moves to *Ready*.", 0)),
		limited("Ready", 8,
			start("Agree on when a card is ready", "A card that is ready can be started by anybody on the team without asking.", 2).
				with("Ready means", "The goal is clear to anyone who takes it", "It can be finished within a few days",
					"Nothing outside the team blocks it", "We know how to tell that it is done")),
		limited("In progress", 4,
			start("Put your first real task here", "Assign yourself, and add a due date only if missing it would hurt somebody.", 0)),
		limited("Review", 3,
			start("Agree on who reviews, and how fast", "A review that waits for two days costs more than it finds. Decide on a limit, "+
				"for example: by the end of the next working day.", 2)),
		column("Done"))
}

func sprintTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000002", "Scrum sprint",
		"One sprint from planning to retrospective. Copy the board, or keep it and archive the cards in Done, when the next sprint begins.",
		[]TemplateLabel{{"Story", "green"}, {"Task", "sky"}, {"Bug", "red"}, {"Spike", "purple"}, {"Tech debt", "brown"},
			{"Sprint goal", "yellow"}},
		column("Product backlog",
			start("As a new customer, I want to see a price before I sign up", "So that I can decide without giving my address "+
				"away.\n\n**Accepted when** the price of every plan is shown without signing in, taxes included.", 0),
			start("Find out why the nightly report takes two hours", "Time box: one day. The result is a note with a proposal, not a fix.", 3)),
		column("Sprint backlog",
			start("Sprint goal", "Write the goal of this sprint here in one sentence. If a card does not serve it, ask why it is in the sprint.", 5),
			start("Sprint planning", "Two hours at most for two weeks of sprint.", 1).
				with("Agenda", "Count the days each of us is really there", "Agree on the sprint goal", "Pull stories until the team "+
					"says stop", "Split each story into tasks of at most a day", "Check the goal against what was pulled")),
		limited("In progress", 5),
		limited("In review", 4),
		limited("Testing", 4),
		column("Done",
			start("Definition of done", "Keep this card on top. A story is done when every line is true.", 5).
				with("Done means", "Reviewed by somebody else", "Tests run on every change", "The documentation says what changed",
					"It is in production, or could be today", "The product owner has seen it")),
		column("Retrospective",
			start("What went well?", "One comment for each thing that we want to keep."),
			start("What held us up?", "One comment for each. No names, only circumstances."),
			start("What do we change in the next sprint?", "Two changes at most, each with somebody who sees to it.").
				with("We will", "First change", "Second change")))
}

func bugTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000003", "Bug tracker",
		"Reports come in on the left, then are triaged, fixed and verified. Labels show the severity; the order shows the priority.",
		[]TemplateLabel{{"Critical", "red"}, {"Major", "orange"}, {"Minor", "yellow"}, {"Cosmetic", "gray"}, {"Regression", "pink"},
			{"Security", "purple"}, {"Cannot reproduce", "brown"}},
		column("Reported",
			start("How to report a bug", "Make a copy of this card for each report, and fill in what you know.\n\n**What I did**\n\n1. "+
				"…\n\n**What I expected**\n\n…\n\n**What happened instead**\n\n…\n\n**Where** (version, browser or device, time of day)\n\n…").
				with("A good report", "One bug, one card", "The steps, from a fresh start", "The exact text of the message, or a picture",
					"How often it happens: always, sometimes, once")),
		limited("Triage", 10,
			start("Weigh the new reports", "Twice a week, fifteen minutes. Security reports do not wait for it.").
				with("For each report", "Can we reproduce it?", "Is it known already? Then link it and archive this one",
					"How bad: Critical, Major, Minor or Cosmetic", "Who is hit, and is there a way around it?", "Confirm it, or say kindly why not")),
		column("Confirmed",
			start("How we order this list", "The top card is fixed next. Order by harm (how bad, times how many people), not by how "+
				"loudly it was reported. Critical bugs skip the queue.", 1)),
		limited("Fixing", 5),
		limited("Verifying", 5,
			start("What verifying means here", "Somebody other than the author follows the steps of the report on the released version, "+
				"and looks left and right of it.").
				with("Before a bug is closed", "The steps no longer show it", "A test would have found it", "The reporter has been told")),
		column("Closed"),
		column("Not now",
			start("Why reports rest here", "Real, but not worth the work at the moment. Look through this list once a quarter, and say no "+
				"to what nobody missed.")))
}

func roadmapTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000005", "Product roadmap",
		"What comes now, next and later, and why. Without dates that nobody believes: the further to the left, the surer.",
		[]TemplateLabel{{"Customers asked", "green"}, {"Growth", "blue"}, {"Retention", "teal"}, {"Foundation", "brown"},
			{"Legal", "purple"}, {"Bet", "orange"}},
		limited("Now", 4,
			start("Single sign-on for larger customers", "**Problem.** Companies above 200 people may not buy what their directory does "+
				"not control.\n\n**We will know that it worked when** three of the five customers who wait for it have switched it on.", 0, 1).
				with("Before it leaves this list", "The problem is written down in the customer's words", "One measure of success, with "+
					"today's figure", "Somebody owns it from end to end", "We said what we will not do")),
		limited("Next", 6,
			start("A first hour that explains itself", "Half of those who sign up never come back after the first day. Watch five of them "+
				"before building anything.", 2)),
		column("Later",
			start("Write problems here, not solutions", "\"Teams lose track of decisions\" leaves room to think; \"a decisions tab\" does not.", 3)),
		column("Exploring",
			start("Ask five customers how they plan their week", "Thirty minutes each. Ask what they did last week, not what they would like.", 5).
				with("Interviews", "First", "Second", "Third", "Fourth", "Fifth")),
		column("Shipped",
			start("Look back four weeks after each launch", "Did the measure move? Keep it, fix it or take it back, and write down "+
				"what we learned.")),
		column("Not planned",
			start("Say no in public", "For each thing that we will not do: one honest sentence on why. It saves asking twice.")))
}

func incidentTemplate() BuiltIn {
	return builtIn("tpl_0000000000000000000000000a", "Incident response",
		"From the first alarm to the last follow-up. One card is one incident; its comments are the log, with the time of each step.",
		[]TemplateLabel{{"SEV 1: down for everyone", "red"}, {"SEV 2: badly hurt", "orange"}, {"SEV 3: noticed", "yellow"},
			{"Security", "purple"}, {"Data loss", "pink"}, {"Third party", "gray"}},
		column("Runbooks",
			start("First fifteen minutes", "Keep this card. Copy it for each incident, and move the copy to *Investigating*.").
				with("If you see it first", "Say in the channel that you have it", "Set a severity; it can be corrected later",
					"Name an incident lead; the lead does not type commands", "Name somebody who tells customers and colleagues",
					"Write the time and the symptom as the first comment", "What changed in the last hour? Roll it back first, ask afterwards"),
			start("What to tell customers", "First message within thirty minutes, then every hour, also when nothing is new.\n\n> Since "+
				"10:20 UTC some customers cannot sign in. We know the cause and are fixing it. The next update comes at 11:30 UTC.\n\nNo "+
				"promises, no blame, no jargon."),
			start("Who to call, and when", "Keep names and numbers where you keep secrets, and write here only where that is.")),
		limited("Investigating", 2),
		limited("Mitigating", 2),
		column("Monitoring",
			start("When is it over?", "The symptom is gone, the figures are back to normal for an hour, and nobody holds anything up by hand.")),
		column("Review",
			start("Review without blame", "Within five working days, an hour at most. We ask what made the mistake easy, never who made it.").
				with("The review answers", "What did customers notice, and how long?", "How did we learn of it, and could we have sooner?",
					"What helped, what stood in the way?", "Where were we lucky?", "Which three things do we change, and who sees to each?")),
		column("Follow-ups"),
		column("Closed"))
}
