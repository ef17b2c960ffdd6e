package main

import "github.com/alecthomas/kong"

// printHelp prints the help of a command, with the flags that it uses.
func printHelp(options kong.HelpOptions, c *kong.Context) error {
	for _, f := range c.Model.Flags {
		f.Hidden = !uses(last(c), f)
	}
	return kong.DefaultHelpPrinter(options, c)
}

// last returns the command that the arguments name so far.
func last(c *kong.Context) *kong.Node {
	node := c.Model.Node
	for _, p := range c.Path {
		if p.Command != nil {
			node = p.Command
		}
	}
	return node
}

// uses reports whether a command uses a flag of all commands. A command with the tag remote uses the
// API of a server, and none of the flags that are about a server's data.
func uses(command *kong.Node, f *kong.Flag) bool {
	for ; command != nil; command = command.Parent {
		if command.Tag != nil && command.Tag.Has("remote") {
			return f.Name == "help" || f.Name == baseURLFlag
		}
	}
	return true
}

// flagHelp returns the flag descriptions that are too long for a struct tag. Tags
// refer to them as ${help_…}.
func flagHelp() kong.Vars {
	return kong.Vars{

		"help_secret_key": "Encryption key for secrets in the database, or several separated by commas; the first one " +
			"encrypts. Use the environment variable, because ps shows flags to every user " +
			"(default: the file secret.key in the data folder).",
		"help_litestream": "SQLite: let Litestream replicate the file and run all checkpoints. " +
			"While Litestream is not running, the write-ahead log grows.",

		"help_api_field": "Field of the request: in the query of GET, otherwise in the body. A value that is JSON is sent " +
			"as such, such as true or [\"a\"]; any other is a string. Can be repeated.",

		"help_trusted_proxies": "Your own proxies in front of the server, such as 10.0.0.0/8. The server takes the client " +
			"address for rate limits from their X-Forwarded-For header (default: none).",
		"help_cors_origins": "Other sites whose pages may use the public API and MCP with a token, such as " +
			"https://app.example.com (default: none).",
		"help_sign_up": "Who can create an account: open (anyone), invited (people with an invitation), " +
			"domains:example.com,… (addresses of these domains, and people with an invitation) or closed (nobody). " +
			"Default: open if --base-url is a loopback address, otherwise invited.",
		"help_operators": "Email addresses of the operators, who can change the plans of organizations in the app " +
			"(default: none).",
		"help_keep_activity": "How long the full activity of boards is kept (default forever). After that, " +
			"only the history of each card remains.",
		"help_keep_card_history": "How long the history of cards is kept (default forever).",
		"help_archive": "Folder that receives activity and audit entries before they are removed, as compressed JSON lines " +
			"(default: none).",
		"help_drain": "How long a server that is shutting down keeps serving requests while /readyz fails, so that a " +
			"load balancer can move traffic to other servers (default 2s). With SQLite, the server does not wait.",
		"help_metrics_addr": "Second address, for operators only, with /metrics for Prometheus and /debug/pprof/ " +
			"for profiles (default: none).",
		"help_security_contact": "Contact for vulnerability reports, a mailto: or https: URL, shown in /.well-known/security.txt " +
			"(default: security@ the host of --base-url).",
		"help_database_replica": "Streaming replica of the PostgreSQL database, postgres://…. Reports are read from it " +
			"unless it lags behind (default: none).",

		"help_response_cache": "Memory for cached responses that contain cards, such as 8MB or 256MB; 0 disables the " +
			"cache (default 32MB).",

		"help_files": "Where attached files are stored: a folder, or s3://BUCKET/PREFIX?endpoint=URL&region=REGION. The " +
			"credentials of a bucket come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from the usual AWS sources. " +
			"Servers that share a database must share this storage (default: files in the data folder).",
		"help_spool_limit": "Disk space for uploads in progress and exports to slow clients, in the spool folder of the " +
			"data folder, such as 500MB or 4GB (default 4GB).",

		"help_connect_registration": "Let apps register themselves (RFC 7591) before they ask people for access: on or off. " +
			"When off, only apps with a client metadata document at an https address can connect (default on).",
		"help_oidc_issuer": "Issuer URL of the OpenID Connect identity provider for sign-in (default: none). " +
			"Register BASE-URL/api/app/v1/sign-in/oidc/callback at the provider as the redirect URI.",
		"help_oidc_client_secret": "Client secret at the identity provider. Use the environment variable, " +
			"because ps shows flags to every user.",
		"help_oidc_trust_email": "Accept email addresses that the identity provider does not call verified or unverified. " +
			"Set this only if all accounts at the provider have addresses of your organization, as in your tenant of Microsoft Entra ID.",
		"help_smtp_url": "Mail server: smtp://user:password@host:port or smtps://…. Use the environment variable, because " +
			"the URL contains a password (default: write emails to the outbox folder in the data folder).",
		"help_webhook_allow": "Servers to call in addition to public https addresses, for webhooks and downloads: hosts, " +
			"host:port, IP addresses or CIDRs, separated by commas. These servers can also use http.",
		"help_webhook_ca_file": "PEM file of certificate authorities to trust, in addition to the system's, for webhooks, " +
			"downloads and client metadata documents.",
		"help_webhook_retry_pauses": "Pauses between the attempts of a delivery " +
			"(default 30s,2m,10m,30m,1h,3h,6h,12h).",
		"help_webhook_secret": "Signing secret, or two separated by a comma during a rotation. " +
			"Use the environment variable, because ps shows flags to every user.",
		"help_listen_status": "Status code of the response (default 204). The sender retries after 500, " +
			"and disables the webhook after 410.",
	}
}
