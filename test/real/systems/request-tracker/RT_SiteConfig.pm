# What differs from server to server comes from the environment, so that several run on one root.
Set($DatabaseType, 'SQLite');
Set($DatabaseName, $ENV{CLOSELOOP_DATABASE});
Set($DatabaseUser, '');
Set($DatabasePassword, '');
Set($DatabaseHost, '');
Set($WebDomain, '127.0.0.1');
Set($WebPort, $ENV{CLOSELOOP_PORT});
Set($WebPath, '');
Set($WebBaseURL, "http://127.0.0.1:$ENV{CLOSELOOP_PORT}");
Set($rtname, 'example.com');
Set($Organization, 'example.com');
Set($Timezone, 'UTC');
Set($MailCommand, sub { 1 }); # no mail leaves this machine
Set($LogToSyslog, undef);
Set($LogToFile, undef);
Set($LogToSTDERR, 'warning');
# For the scrip.
Set($CloseloopUrl, $ENV{CLOSELOOP_HOOK});
Set($CloseloopKey, $ENV{CLOSELOOP_KEY});
1;
