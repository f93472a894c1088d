"""Java: the Xerial JDBC driver of Debian."""
import subprocess
import sys

from common import PROFILE, ROOT, check, library, words

done = subprocess.run(["java", "-cp", "/usr/share/java/sqlite-jdbc.jar", f"{ROOT}/examples/java/HotOperators.java", PROFILE, library()],
                      text=True, capture_output=True)
if done.returncode:
    sys.exit(done.stderr)
check(words(done.stdout), "jdbc")
