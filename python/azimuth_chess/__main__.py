"""``python -m azimuth_chess`` is the command ``azimuth``."""

from azimuth_chess._command import main

if __name__ == "__main__":
    main()
