package mail

import (
	"fmt"
	"strings"
	"time"

	"cardwall/internal/board"
)

// composeAccountNotice composes an email that tells the owner of an account about
// a security-relevant change.
func composeAccountNotice(kind board.EmailKind, link string, n board.AccountNotice) (Message, error) {
	subject, text, undo := accountNoticeText(kind, n)
	if n.At != 0 {
		zone, err := time.LoadLocation(n.TimeZone)
		if err != nil { // the zone may have been renamed
			zone = time.UTC
		}
		text += fmt.Sprintf(" This happened on %s (%s).", n.At.Time().In(zone).Format("2 January 2006 at 15:04"), zone)
	}
	return render(subject, content{
		Paragraphs: []string{text, "If this was you, no action is needed. If this wasn't you, " + undo + "."},
		Button:     "Review your account", Link: link,
		Footer: "We send this email to protect your account. You can't unsubscribe from security emails.",
	})
}

// accountNoticeText returns the subject, a description of the change, and the
// instructions for undoing it. A subject never contains text that a person typed.
func accountNoticeText(kind board.EmailKind, n board.AccountNotice) (subject, text, undo string) {
	const reset = "reset your password now with “Forgot password?” on the sign-in page"
	switch kind {
	case board.EmailPasskeyAdded:
		return "A passkey was added to your account",
			fmt.Sprintf("The passkey “%s” was added to your Cardwall account. It can be used to sign in.", line(n.Name)),
			"delete the passkey and " + reset
	case board.EmailTokenCreated:
		return "An API token was created for your account",
			fmt.Sprintf("The API token “%s”, which ends in %s, was created for your Cardwall account. "+
				"Programs that have it can act on your behalf.", line(n.Name), n.LastFour),
			"revoke the token and " + reset
	case board.EmailAppConnected:
		from := ""
		if n.Host != "" {
			from = " from " + line(n.Host)
		}
		return "An app was connected to your account",
			fmt.Sprintf("The app “%s”%s was connected to your Cardwall account. It can act on your behalf.",
				line(n.Name), from),
			"disconnect the app and " + reset
	case board.EmailNewDevice:
		return "New sign-in to your account",
			fmt.Sprintf("Someone signed in to your Cardwall account from a new device: %s, from the IP address %s.",
				browser(n.UserAgent), n.Address),
			"end that session and " + reset
	}
	return "Your password was changed",
		"The password of your Cardwall account was changed. All other sessions were signed out.", reset
}

// browser returns a readable description of a User-Agent, such as "Firefox on
// Linux". It contains only fixed words and nothing from the header.
func browser(userAgent string) string {
	first := func(names ...string) string {
		for i := 0; i < len(names); i += 2 {
			if strings.Contains(userAgent, names[i]) {
				return names[i+1]
			}
		}
		return ""
	}
	program := first("Edg", "Edge", "OPR/", "Opera", "SamsungBrowser/", "Samsung Internet",
		"Firefox/", "Firefox", "FxiOS/", "Firefox", "Chrome/", "Chrome", "CriOS/", "Chrome", "Safari/", "Safari")
	system := first("iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "CrOS", "ChromeOS",
		"Windows", "Windows", "Mac OS X", "macOS", "Linux", "Linux")
	switch {
	case program != "" && system != "":
		return program + " on " + system
	case program != "" || system != "":
		return program + system
	}
	return "an unknown browser"
}
