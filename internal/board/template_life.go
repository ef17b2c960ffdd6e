package board

// The built-in templates for work with people, texts and days.

func editorialTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000004", "Editorial calendar",
		"From an idea to what is published and read. Give each card the date it appears as its due date: the calendar is then the plan.",
		[]TemplateLabel{{"Article", "blue"}, {"Newsletter", "teal"}, {"Video", "red"}, {"Social", "pink"}, {"Case study", "green"},
			{"Evergreen", "lime"}},
		column("Ideas",
			start("What do customers ask every week?", "The best subjects are in the inbox of those who answer. Ask them for "+
				"three questions.", 0, 5),
			start("A customer who does something unexpected with our product", "", 4)),
		limited("Planned", 12,
			start("Brief for an article", "Copy this card for each piece.\n\n**Who reads it?**\n\n…\n\n**What can they do afterwards that "+
				"they could not before?**\n\n…\n\n**What do we know that others don't?**\n\n…", 0).
				with("Before writing", "A working title", "Who writes, who edits", "The date it appears", "Which pictures are needed, "+
					"and who makes them")),
		limited("Writing", 4),
		limited("Editing", 4,
			start("What the editor looks at", "In this order: what is right costs nothing when the piece says nothing.").
				with("Edit", "Does it keep the promise of its title?", "Which paragraph can go?", "Are names, figures and quotations "+
					"checked?", "Can every sentence be read aloud?", "Do pictures have descriptions for those who don't see them?")),
		column("Scheduled",
			start("Before it goes out", "").
				with("Last look", "Title and first sentence as they appear in a search", "Links work", "Picture rights are settled",
					"The person quoted has seen the quotation")),
		column("Published",
			start("Look at the figures after four weeks", "Who read to the end, and what did they do next? Write one sentence on what "+
				"we would do again.")))
}

func hiringTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000006", "Hiring pipeline",
		"One board for one position, one card for each candidate. Make it private before the first name goes in: applications are "+
			"for those who decide.",
		[]TemplateLabel{{"Referral", "green"}, {"Applied", "sky"}, {"Sourced", "blue"}, {"Strong yes", "lime"}, {"Unsure", "yellow"},
			{"Other role", "purple"}},
		column("The position",
			start("What we look for", "Write it before the first interview, and change it only for everybody.\n\n**What this person will "+
				"have done after a year**\n\n- …\n\n**What they must bring**\n\n- …\n\n**What they can learn here**\n\n- …"),
			start("Fair and legal", "Notes on candidates may be read by them. Write what they said and did, not what you feel. Delete "+
				"applications when the law says so.").
				with("For the position", "The same questions for everybody, in the same order", "Everybody notes their verdict before "+
					"we talk", "The pay range is in the job ad", "A date on which we delete the notes")),
		column("Applied"),
		limited("First call", 8,
			start("First call, thirty minutes", "Copy the checklist to the candidate's card.").
				with("First call", "What the work is really like", "Why now, why us?", "Pay, place, working hours, first possible day",
					"What comes next, and by when they hear from us")),
		limited("Interview", 5,
			start("Interview plan", "Two people, an hour. One asks, one writes.").
				with("Interview", "Something they built, in their own words", "Something that went wrong, and what they did",
					"A problem from our own week, solved together", "Time for their questions")),
		limited("Work sample", 4),
		column("Offer",
			start("Making an offer", "By telephone first. Within two days of the last conversation.").
				with("Offer", "Two references", "Pay approved", "Contract sent", "All other candidates have heard from us")),
		column("Hired"),
		column("Not this time"))
}

func eventTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000007", "Event planning",
		"A conference, a fair or a party: what must happen when, and who sees to it. Give every card a due date counted back from the day.",
		[]TemplateLabel{{"Venue", "brown"}, {"Programme", "blue"}, {"Guests", "green"}, {"Catering", "orange"}, {"Money", "yellow"},
			{"Publicity", "pink"}, {"On the day", "red"}},
		column("Three months before",
			start("Set the budget", "Put aside a tenth for what nobody thought of.", 4).
				with("Costs", "Rooms and technology", "Food and drink", "Speakers: fees, travel, nights", "Printing and signs",
					"Insurance and fees", "A tenth for surprises"),
			start("Book the venue", "See it at the hour at which the event will be.", 0).
				with("Ask", "How many people, seated and standing?", "Can everybody get in and around without stairs?",
					"What may we bring, what must we buy there?", "From when may we build up, until when must we be gone?",
					"What does cancelling cost, and until when?"),
			start("Invite the speakers", "", 1)),
		column("One month before",
			start("Publish the programme and open the registration", "", 1, 5),
			start("Order food and drink", "Ask about allergies when people register, not at the buffet.", 3),
			start("Find ten people who help on the day", "", 2, 6)),
		column("The last week",
			start("Send the guests all that they need", "", 2).
				with("The letter", "Where, with a map", "When doors open", "What to bring", "A telephone number for the day"),
			start("Walk through the day, minute by minute", "Everybody who helps, in the venue if possible.", 6)),
		column("On the day",
			start("Before the doors open", "", 6).
				with("Check", "Sound, picture and spare cables", "Signs from the station to the seat", "Water for the speakers",
					"First aid: where, and who", "Name badges in the order of the alphabet")),
		column("Afterwards",
			start("Thank everybody within two days", "Helpers first, then speakers, then guests. Ask the guests two questions, not twenty.", 2),
			start("Settle the accounts", "", 4),
			start("Write down what we would do differently", "While it still hurts.")),
		column("Done"))
}

func onboardingTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000008", "Customer onboarding",
		"From the signature to the day on which the customer needs no help any more. One card is one customer; copy the first card for each.",
		[]TemplateLabel{{"Small", "sky"}, {"Large", "blue"}, {"Waiting for the customer", "yellow"}, {"Waiting for us", "orange"},
			{"At risk", "red"}, {"Reference", "green"}},
		column("Signed",
			start("New customer (copy me)", "**Who decides, who uses it, who pays?**\n\n…\n\n**What did we promise?**\n\n…\n\n**What "+
				"would make them say after three months that it was worth it?**\n\n…").
				with("Handover from sales", "Contract and promises are read", "First message sent within a day", "Date for the first meeting agreed").
				with("First meeting", "Goal in the customer's words, with a figure", "Who does what until when", "How and how often we talk")),
		limited("Setting up", 6,
			start("What setting up takes", "").
				with("Set-up", "Accounts and roles", "Their data is in, and they have checked it", "Connected with what they use already",
					"Somebody on their side can explain it")),
		limited("Training", 6,
			start("Training that lasts", "Show them their own data, never an example. One hour, then a week of doing, then half an "+
				"hour of questions.")),
		column("First weeks",
			start("Look in after one week and after four", "Who has not signed in yet? Call, don't write.").
				with("Signs that it works", "They ask for things, instead of how", "More people use it than in the first week",
					"The figure of the first meeting moves")),
		column("On their own"),
		column("At risk",
			start("When a customer goes quiet", "Nobody signed in for ten days, or the person who wanted it has left: move the card here, "+
				"and agree within two days who calls.", 4)))
}

func personalTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000009", "Personal tasks",
		"One place for everything that is on your mind. Few things today, and a look at the rest once a week.",
		[]TemplateLabel{{"Home", "green"}, {"Work", "blue"}, {"Errand", "orange"}, {"Call", "sky"}, {"Five minutes", "lime"},
			{"Waiting for somebody", "gray"}},
		column("Inbox",
			start("Empty your head", "Write down everything that you have to remember, one card each. Don't sort yet.").
				with("Where to look", "Your mail and messages", "The notes on your desk", "What you promised last week",
					"What you have put off for months")),
		limited("Today", 3,
			start("Three things, not thirteen", "Pick them the evening before. The rest of the day will fill itself.")),
		limited("This week", 10),
		column("Waiting",
			start("Whom do you wait for?", "Write who and since when into the title, and give the card a date on which you ask again.", 5)),
		column("Someday",
			start("Learn to say hello in five languages", "")),
		column("Done",
			start("Weekly review", "Half an hour, always on the same day. Give this card a due date, and a new one each time.").
				with("Each week", "Empty the inbox: do, plan, or let go", "Look at last week and next week in the calendar",
					"Ask those for whom you wait", "Is there anything in Someday for this week?", "Archive what is done, and be pleased")))
}
