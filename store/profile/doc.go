// Package profile knows how clusters are reached: the profiles of the settings file, Java's client.properties, and the
// configs of librdkafka and kcat. It turns each into addresses, TLS and SASL, and tests the way step by step.
//
//	config.toml ─┐
//	*.properties ┼─ Profile ── Open ── Access: addresses, *tls.Config, sasl.Mechanism
//	HOST:PORT ───┘                └─ Test: DNS ── TCP ── TLS ── ApiVersions ── SASL ── listeners
//
// In the settings file:
//
//	[profile.prod]
//	brokers = ["kafka-1:9093", "kafka-2:9093"]    # or "kafka-1:9093,kafka-2:9093"
//	properties = "client.properties"              # what is set here wins over what is set there
//	read_only = true
//	colour = "red"                                # red, yellow, green, blue, magenta or cyan
//	[profile.prod.tls]                            # an empty table asks for TLS as the system trusts it
//	ca = "ca.pem"
//	cert = "me.pem"
//	key = "me.key"
//	server_name = "kafka.internal"
//	insecure = false
//	[profile.prod.sasl]
//	mechanism = "SCRAM-SHA-512"                   # PLAIN, SCRAM-SHA-256, OAUTHBEARER, AWS_MSK_IAM
//	user = "ada"
//	password_command = "pass kafka/prod"          # or password_env, password_file; password where it must be
//	token_command = ["token", "--now"]            # OAUTHBEARER, AWS_MSK_IAM
//	token_url = "https://login/token"             # OAUTHBEARER by client credentials
//	client_id = "strata"
//	secret_env = "CLIENT_SECRET"                  # or secret_file, secret_command, secret
//	scope = "kafka"
//	extensions = { logicalCluster = "lkc-1" }
//	[profile.prod.registry]
//	url = "https://registry"
//	user = "ada"
//	password_env = "REGISTRY_PASSWORD"
//
// # Why
//
//   - A secret is held as a func: whatever prints a value with all that it holds, by whatever verb, prints an address. No
//     error says what a command has printed, nor its arguments, which may be secrets.
//   - An unknown key of a profile is an error and no warning: a misspelt read_only must not open a cluster for writing.
//     In properties files it is one where it begins as a key of security does, and else a warning, as it is for Java.
//   - Commands have no terminal and no standard input: the explorer has both.
//   - Passwords are asked for once, before there is a screen, so that whatever asks a person can; tokens are asked for again
//     when they have nearly run out.
//   - Test speaks the protocol by itself, a request at a time: a client that tries again and again, on any broker, cannot
//     say at which step it has failed.
package profile
