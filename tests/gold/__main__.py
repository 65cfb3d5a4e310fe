"""`python -m tests.gold`: the basic model's score on the gold set, by category."""

from tests.gold import loading, playing


def main() -> None:
    print(loading.report(playing.all_played(loading.all_cases(), playing.embedded)))


if __name__ == "__main__":
    main()
