; agent - what every agent looks at when it starts, besides the tool chains.
[profile]
	summary = what every coding agent needs
	inherits = tools
[rule "the way to the folder"]
	; which names there are in the directories that hold the folder: agents look for a repository and
	; for instructions there. What those files say is asked for.
	allow = read $ABOVE
