"""The program that the tests serve databases with."""

import json
import signal
import subprocess


class Served:
    """The program that serves all databases from files in a folder."""

    def __init__(self, program, folder, *options):
        self.command = [program, "serve", folder, *options]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.expect_audit()
        begun = json.loads(self.process.stdout.readline())
        self.port, self.databases = begun["port"], begun["databases"]

    def expect_audit(self):
        line = self.process.stdout.readline()
        assert line.startswith("audit: 0 findings"), line

    def audit(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.expect_audit()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.process.stdin.close()
        self.expect_audit()
        assert self.process.wait() == 0
