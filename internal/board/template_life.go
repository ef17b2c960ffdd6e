package board

// The built-in templates for publishing, hiring, events, customers and personal tasks.

func editorialTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000004", "Editorial calendar",
		"Follows each piece from idea to publication. Use the publication date as the due date, and the calendar becomes the plan.",
		[]TemplateLabel{{"Article", "blue"}, {"Newsletter", "teal"}, {"Video", "red"}, {"Social", "pink"}, {"Case study", "green"},
			{"Evergreen", "lime"}},
		newList("Ideas",
			start("What do customers ask every week?", "The best topics are in the support inbox. Ask the support team for "+
				"three questions.", 0, 5),
			start("A customer who uses our product in an unexpected way", "", 4)),
		limited("Planned", 12,
			start("Brief for an article", "Copy this card for each piece.\n\n**Who is it for?**\n\n…\n\n**What will readers be able to do "+
				"after reading it?**\n\n…\n\n**What do we know that no one else has written?**\n\n…", 0).
				with("Before writing", "A working title", "Author and editor", "Publication date", "Images needed, "+
					"and who provides them")),
		limited("Writing", 4),
		limited("Editing", 4,
			start("What the editor checks", "Start at the top: details don't matter if the piece says nothing.").
				with("Edit", "Does it deliver what the title promises?", "Which paragraph can be cut?", "Have names, figures and quotations "+
					"been checked?", "Does every sentence read well aloud?", "Do all images have alt text?")),
		newList("Scheduled",
			start("Before publishing", "").
				with("Final check", "The title and first sentence look right in search results", "All links work", "Image rights are cleared",
					"Everyone quoted has approved the quotation")),
		newList("Published",
			start("Review the metrics after four weeks", "How many people read to the end, and what did they do next? Write one sentence about "+
				"what we would do again.")))
}

func hiringTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000006", "Hiring pipeline",
		"One board per position, one card per candidate. Make the board private before you add the first candidate: only the "+
			"hiring team should see applications.",
		[]TemplateLabel{{"Referral", "green"}, {"Applied", "sky"}, {"Sourced", "blue"}, {"Strong yes", "lime"}, {"Unsure", "yellow"},
			{"Other role", "purple"}},
		newList("The position",
			start("What we look for", "Write this before the first interview. If you change it, apply the change to every candidate.\n\n"+
				"**What this person will have achieved after a year**\n\n- …\n\n**Required skills**\n\n- …\n\n**Skills they can learn here**\n\n- …"),
			start("Fair and legal", "Candidates may have the right to read our notes. Write what they said and did, not how you felt. "+
				"Delete applications when the law requires it.").
				with("For the position", "Every candidate gets the same questions in the same order", "Every interviewer writes down a verdict "+
					"before we talk", "The pay range is in the job ad", "We have set a date to delete the notes")),
		newList("Applied"),
		limited("First call", 8,
			start("First call, thirty minutes", "Copy the checklist to the candidate's card.").
				with("First call", "What the work is really like", "Why now, and why us?", "Pay, location, working hours, earliest start date",
					"Next steps, and when they will hear from us")),
		limited("Interview", 5,
			start("Interview plan", "Two interviewers, one hour. One asks questions, the other takes notes.").
				with("Interview", "Something they built, described in their own words", "Something that went wrong, and how they handled it",
					"A real problem of ours, solved together", "Time for their questions")),
		limited("Work sample", 4),
		newList("Offer",
			start("Making an offer", "Call first, within two days of the last conversation.").
				with("Offer", "Two references checked", "Pay approved", "Contract sent", "All other candidates informed")),
		newList("Hired"),
		newList("Not this time"))
}

func eventTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000007", "Event planning",
		"For a conference, a fair or a party: what has to happen, when, and who does it. Set due dates by counting back from the event.",
		[]TemplateLabel{{"Venue", "brown"}, {"Program", "blue"}, {"Guests", "green"}, {"Catering", "orange"}, {"Money", "yellow"},
			{"Publicity", "pink"}, {"On the day", "red"}},
		newList("Three months before",
			start("Set the budget", "Set aside ten percent for unexpected costs.", 4).
				with("Costs", "Rooms and equipment", "Food and drink", "Speakers: fees, travel, accommodation", "Printing and signs",
					"Insurance and fees", "Ten percent reserve"),
			start("Book the venue", "Visit it at the time of day when the event will take place.", 0).
				with("Ask", "How many people, seated and standing?", "Is it accessible without stairs?",
					"What can we bring, and what must we buy there?", "When can we set up, and when must we be out?",
					"What does it cost to cancel, and by when?"),
			start("Invite the speakers", "", 1)),
		newList("One month before",
			start("Publish the program and open registration", "", 1, 5),
			start("Order food and drink", "Ask about allergies at registration, not at the buffet.", 3),
			start("Find ten helpers for the day", "", 2, 6)),
		newList("The last week",
			start("Send guests everything they need to know", "", 2).
				with("The email", "Address, with a map", "When the doors open", "What to bring", "A phone number for the day"),
			start("Walk through the day, minute by minute", "With all helpers, at the venue if possible.", 6)),
		newList("On the day",
			start("Before the doors open", "", 6).
				with("Check", "Sound, projector and spare cables", "Signs from the station to the venue", "Water for the speakers",
					"First aid: where it is, and who is trained", "Name badges in alphabetical order")),
		newList("Afterwards",
			start("Thank everyone within two days", "Helpers first, then speakers, then guests. Ask guests two questions, not twenty.", 2),
			start("Settle the accounts", "", 4),
			start("Write down what we would do differently", "Do this while it is fresh.")),
		newList("Done"))
}

func onboardingTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000008", "Customer onboarding",
		"From the signed contract to the day the customer no longer needs help. One card per customer: copy the first card for each.",
		[]TemplateLabel{{"Small", "sky"}, {"Large", "blue"}, {"Waiting for the customer", "yellow"}, {"Waiting for us", "orange"},
			{"At risk", "red"}, {"Reference", "green"}},
		newList("Signed",
			start("New customer (copy me)", "**Who decides, who uses it, who pays?**\n\n…\n\n**What did we promise?**\n\n…\n\n**What "+
				"must happen within three months for them to say it was worth it?**\n\n…").
				with("Handover from sales", "Contract and promises reviewed", "First message sent within a day", "First meeting scheduled").
				with("First meeting", "Goal in the customer's words, with a number", "Who does what by when", "How and how often we talk")),
		limited("Setting up", 6,
			start("Setup steps", "").
				with("Setup", "Accounts and roles created", "Data imported, and checked by the customer", "Connected to their existing tools",
					"Someone on their team can explain it")),
		limited("Training", 6,
			start("Training that lasts", "Use the customer's own data, never sample data. One hour of training, a week of practice, then "+
				"half an hour of questions.")),
		newList("First weeks",
			start("Check in after one week and after four", "Who has not signed in yet? Call instead of writing.").
				with("Signs that it works", "They ask for features, not for instructions", "More people use it than in the first week",
					"The number from the first meeting has changed")),
		newList("On their own"),
		newList("At risk",
			start("When a customer goes quiet", "If nobody has signed in for ten days, or your main contact has left, move the card here. "+
				"Decide within two days who calls.", 4)))
}

func personalTemplate() BuiltIn {
	return builtIn("tpl_00000000000000000000000009", "Personal tasks",
		"One place for everything on your mind. Pick a few things for today, and review the rest once a week.",
		[]TemplateLabel{{"Home", "green"}, {"Work", "blue"}, {"Errand", "orange"}, {"Call", "sky"}, {"Five minutes", "lime"},
			{"Waiting for someone", "gray"}},
		newList("Inbox",
			start("Empty your head", "Write down everything you need to remember, one card each. Don't sort it yet.").
				with("Where to look", "Your email and messages", "The notes on your desk", "What you promised last week",
					"Things you have put off for months")),
		limited("Today", 3,
			start("Three things, not thirteen", "Pick them the evening before. Other things will fill the rest of the day.")),
		limited("This week", 10),
		newList("Waiting",
			start("Who are you waiting for?", "Put the name and the date in the title. Set a due date for when to ask again.", 5)),
		newList("Someday",
			start("Learn to say hello in five languages", "")),
		newList("Done",
			start("Weekly review", "Half an hour, always on the same day. Give this card a new due date each time.").
				with("Each week", "Empty the inbox: do, plan, or let go", "Look at last week and next week in your calendar",
					"Follow up with the people you are waiting for", "Is there anything in Someday for this week?", "Archive finished cards")))
}
