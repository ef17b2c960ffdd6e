package mail

import (
	"fmt"
	"strings"
	"time"

	"cardwall/internal/board"
)

// AccountNotice tells the owner of an account what was done with it.
func AccountNotice(kind board.LetterKind, link string, n board.AccountNotice) (Message, error) {
	subject, text, undo := noticeText(kind, n)
	if n.At != 0 {
		zone, err := time.LoadLocation(n.TimeZone)
		if err != nil { // a zone may be renamed
			zone = time.UTC
		}
		text += fmt.Sprintf(" This was on %s (%s).", n.At.Time().In(zone).Format("2 January 2006 at 15:04"), zone)
	}
	return compose(subject, content{
		Paragraphs: []string{text, "If this was you, there is nothing to do. If not, " + undo + "."},
		Button:     "Review your account", Link: link,
		Small: "You get this email because it is about the security of your account. You cannot unsubscribe from it.",
	})
}

// noticeText is the subject, what was done, and what to do when it was somebody
// else. No subject repeats what somebody typed.
func noticeText(kind board.LetterKind, n board.AccountNotice) (subject, text, undo string) {
	const reset = "reset your password now with \u201cForgot password?\u201d on the sign-in page"
	switch kind {
	case board.LetterPasskeyAdded:
		return "A passkey was added to your account", fmt.Sprintf("The passkey \u201c%s\u201d was added to your Cardwall account. It can be used to sign in.", line(n.Name)),
			"delete the passkey and " + reset
	case board.LetterTokenCreated:
		return "An API token was created for your account",
			fmt.Sprintf("The API token \u201c%s\u201d, which ends in %s, was created for your Cardwall account. A program that has it can act in your name.", line(n.Name), n.LastFour),
			"revoke the token and " + reset
	case board.LetterAppConnected:
		from := ""
		if n.Host != "" {
			from = " from " + line(n.Host)
		}
		return "An app was connected to your account", fmt.Sprintf("The app \u201c%s\u201d%s was connected to your Cardwall account. It can act in your name.", line(n.Name), from),
			"disconnect the app and " + reset
	case board.LetterNewDevice:
		return "New sign-in to your account", fmt.Sprintf("Somebody signed in to your Cardwall account with a device that it did not know: %s, from the address %s.", browser(n.UserAgent), n.Address),
			"end that session and " + reset
	}
	return "Your password was changed", "The password of your Cardwall account was changed. All other sessions have ended.", reset
}

// browser is what a User-Agent means to a person, in words of ours: "Firefox on
// Linux".
func browser(userAgent string) string {
	first := func(names ...string) string {
		for i := 0; i < len(names); i += 2 {
			if strings.Contains(userAgent, names[i]) {
				return names[i+1]
			}
		}
		return ""
	}
	program := first("Edg", "Edge", "OPR/", "Opera", "SamsungBrowser/", "Samsung Internet", "Firefox/", "Firefox", "FxiOS/", "Firefox", "Chrome/", "Chrome", "CriOS/", "Chrome", "Safari/", "Safari")
	system := first("iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "CrOS", "ChromeOS", "Windows", "Windows", "Mac OS X", "macOS", "Linux", "Linux")
	switch {
	case program != "" && system != "":
		return program + " on " + system
	case program != "" || system != "":
		return program + system
	}
	return "an unknown browser"
}
